#!/bin/sh
# SessionStart: plain output is context for the model.
cd "$CLAUDE_PROJECT_DIR" || exit 1
echo "Branch: $(git symbolic-ref --short HEAD)"
echo "Changed: $(git status --porcelain | wc -l | tr -d ' ') files"
