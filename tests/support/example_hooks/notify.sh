#!/bin/sh
# Stop: a bell on the desktop; here it is a file beside the project.
cat > /dev/null
echo "Your agent is done" >> "$CLAUDE_PROJECT_DIR/../notices.txt"
