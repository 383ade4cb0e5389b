package hooks

import (
	"os"
	"path/filepath"
	"slices"

	"termhost/ahp/commandline"
)

// Agent is a program whose settings are known.
type Agent struct {
	Name string // on the command line
	// parts returns what its settings need, if termhost is at exe and the agent's user has home.
	parts func(exe, home string) []part
	// Note is what its user has to do besides; "": nothing.
	Note string
}

// Agents returns the agents that are known, by name.
func Agents() []Agent {
	return []Agent{
		{Name: "claude", parts: claude},
		{Name: "codex", parts: codex, Note: "Codex asks once, when it starts, whether to trust " +
			"these hooks; until then it says only that it is done"},
		{Name: "gemini", parts: gemini},
		{Name: "opencode", parts: opencode},
	}
}

// Named returns the agent of a name.
func Named(name string) (Agent, bool) {
	all := Agents()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

// claude is Claude Code (docs: "Hooks reference").
func claude(exe, home string) []part {
	dir := folder("CLAUDE_CONFIG_DIR", home, ".claude")
	return []part{&hookFile{path: filepath.Join(dir, "settings.json"), agent: "claude", exe: exe,
		timeout: 10,
		events: []string{"UserPromptSubmit", "PermissionRequest", "Notification", "PostToolUse",
			"PostToolUseFailure", "Stop", "StopFailure"}}}
}

// codex is Codex: its notify, which no one has to trust, says that a turn is complete, and its
// hooks the rest (docs: "Advanced configuration", "Hooks").
func codex(exe, home string) []part {
	dir := folder("CODEX_HOME", home, ".codex")
	return []part{
		&notifyLine{path: filepath.Join(dir, "config.toml"), exe: exe},
		&hookFile{path: filepath.Join(dir, "hooks.json"), agent: "codex", exe: exe, timeout: 10,
			events: []string{"UserPromptSubmit", "PermissionRequest", "PostToolUse"}},
	}
}

// gemini is Gemini CLI, whose timeouts are in milliseconds (docs: "Hooks reference").
func gemini(exe, home string) []part {
	return []part{&hookFile{path: filepath.Join(home, ".gemini", "settings.json"), agent: "gemini",
		exe: exe, timeout: 10_000,
		events: []string{"BeforeAgent", "Notification", "AfterTool", "AfterAgent"}}}
}

// folder returns where an agent keeps its settings: what a variable says, or a folder of the home.
func folder(variable, home, name string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, name)
}

// command returns the line that an agent's shell runs.
func command(exe, agent string) string {
	return commandline.Quote(exe) + mark(agent)
}

// mark ends the command lines of ours in an agent's settings.
func mark(agent string) string { return " status --from " + agent }

// part is one file of an agent's settings.
type part interface {
	file() string
	// text returns what the file needs, for people.
	text() string
	// with returns the file's content was with what it needs, and without without it.
	with(was []byte) ([]byte, error)
	without(was []byte) ([]byte, error)
}
