// Package hooks has agents say how they stand by their own means: it writes the settings by which
// Claude Code, Codex, Gemini CLI and opencode call `termhost status`, and reads what they pass to
// it. Nothing that they show on the screen is interpreted.
//
// What is in their settings already stays, in its order. A file that cannot be read as what it
// should be is not changed.
package hooks
