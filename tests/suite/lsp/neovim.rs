//! Neovim, where there is one: it starts the server, shows its diagnostics, and gets its completions.

use std::process::Command;

use super::*;
use crate::skipped::skipped;

const SCRIPT: &str = r#"
local function fail(why) io.stdout:write('FAILED ' .. why .. '\n') vim.cmd('cquit 1') end
vim.cmd('edit contracts/issue_refund.yaml')
local id = vim.lsp.start_client({ name = 'rulestep', cmd = { vim.env.RULESTEP, 'lsp', 'sessions' } })
if not id then fail('no client') end
vim.lsp.buf_attach_client(0, id)
vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'tol: issue_refund # 𝒳' })
local told
local function unknown()
  for _, one in ipairs(vim.diagnostic.get(0)) do if one.code == 'unknown_key' then told = one end end
  return told ~= nil
end
if not vim.wait(30000, unknown) then fail('no diagnostics') end
io.stdout:write(told.lnum .. ':' .. told.col .. ' ' .. told.code .. '\n')
vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'tool: issue_refund' })
if not vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end) then fail('diagnostics stay') end
local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 2, character = 6 } }
local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', params, 30000)
io.stdout:write(answers[id].result.contents.value:sub(1, 60) .. '\n')
vim.cmd('qall!')
"#;

#[test]
fn neovim_shows_what_is_wrong() {
    if Command::new("nvim").arg("--version").output().is_err() {
        return skipped("no nvim");
    }
    let folder = refunds();
    std::fs::write(folder.path().join("check.lua"), SCRIPT).unwrap();
    let mut command = Command::new("nvim");
    let command = command.args(["--headless", "--clean", "-n", "-c", "luafile check.lua"]);
    let command =
        command.current_dir(folder.path()).env("RULESTEP", assert_cmd::cargo::cargo_bin!("rulestep"));
    let output = command.env("XDG_STATE_HOME", folder.path()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{shown}{error}");
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        ["0:0 unknown_key", "**`contract.preconditions.requires_prior_tool`** (a tool nam"],
        "{error}"
    );
}
