#!/bin/sh
# Stop: reads the last answer out; the voice is a file.
sed -n 's/.*"last_assistant_message": *"\([^"]*\)".*/\1/p' > "$CLAUDE_PROJECT_DIR/../spoken.txt"
