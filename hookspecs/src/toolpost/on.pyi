"""The lifecycle events and where they are declared."""

from toolpost.events.agent import subagent_start as subagent_start
from toolpost.events.agent import subagent_stop as subagent_stop
from toolpost.events.agent import task_completed as task_completed
from toolpost.events.agent import task_created as task_created
from toolpost.events.agent import teammate_idle as teammate_idle
from toolpost.events.agent import worktree_create as worktree_create
from toolpost.events.agent import worktree_remove as worktree_remove
from toolpost.events.compaction import post_compact as post_compact
from toolpost.events.compaction import pre_compact as pre_compact
from toolpost.events.files import file_changed as file_changed
from toolpost.events.messages import elicitation as elicitation
from toolpost.events.messages import elicitation_result as elicitation_result
from toolpost.events.permission import permission_denied as permission_denied
from toolpost.events.permission import permission_request as permission_request
from toolpost.events.session import config_change as config_change
from toolpost.events.session import cwd_changed as cwd_changed
from toolpost.events.session import directory_added as directory_added
from toolpost.events.session import instructions_loaded as instructions_loaded
from toolpost.events.session import session_end as session_end
from toolpost.events.session import session_start as session_start
from toolpost.events.session import setup as setup
from toolpost.events.tool import post_tool_batch as post_tool_batch
from toolpost.events.tool import post_tool_use as post_tool_use
from toolpost.events.tool import post_tool_use_failure as post_tool_use_failure
from toolpost.events.tool import pre_skill_shell_command as pre_skill_shell_command
from toolpost.events.tool import pre_tool_use as pre_tool_use
from toolpost.events.turn import after_model as after_model
from toolpost.events.turn import before_model as before_model
from toolpost.events.turn import message_display as message_display
from toolpost.events.turn import notification as notification
from toolpost.events.turn import post_model_switch as post_model_switch
from toolpost.events.turn import pre_model_switch as pre_model_switch
from toolpost.events.turn import stop as stop
from toolpost.events.turn import stop_failure as stop_failure
from toolpost.events.turn import user_prompt_expansion as user_prompt_expansion
from toolpost.events.turn import user_prompt_submit as user_prompt_submit

__all__: list[str]
