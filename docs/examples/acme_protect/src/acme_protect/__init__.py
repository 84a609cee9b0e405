"""Asks before anything changes in the folders you name."""

from toolpost import Ask, Decision, PermissionRequest, PermissionResolver


class Protect(PermissionResolver):
    folders: tuple[str, ...] = ("migrations",)

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        path = str(request.tool_input.get("file_path", ""))
        touched = next((f for f in self.folders if f"/{f}/" in path), None)
        if touched is None or request.read_only:
            return None
        return Ask(f"{path} is in the protected folder {touched!r}")
