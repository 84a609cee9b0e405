"""`permissions explain`: decides on a call as a session would, and runs nothing."""
