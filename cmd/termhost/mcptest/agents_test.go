package mcptest

import (
	"fmt"
	"path/filepath"
	"strings"
)

// agent is a program that gives a model tools.
type agent struct {
	name    string
	pkg     string // of npm
	program string // of the package
	wire    wire
	// prepare writes the program's settings into its home folder, with the command of an MCP server
	// called x, and returns the arguments and environment of a run in which a model at url is told to
	// go.
	prepare func(s *site, home, url string, server []string) (arguments, env []string)
}

// agents are those that the stories are told with.
func agents() []agent {
	return []agent{
		{"claude", "@anthropic-ai/claude-code", "claude", anthropic, prepareClaude},
		{"codex", "@openai/codex", "codex", responses, prepareCodex},
		{"gemini", "@google/gemini-cli", "gemini", gemini, prepareGemini},
	}
}

func prepareClaude(s *site, home, url string, server []string) (arguments, env []string) {
	config := s.write(filepath.Join(home, "mcp.json"), toJSON(args{"mcpServers": args{
		"x": args{"command": server[0], "args": server[1:]}}}))
	return []string{"-p", "go", "--strict-mcp-config", "--mcp-config", config, "--allowedTools", "mcp__x",
			"--output-format", "json"},
		claudeEnv(url)
}

func claudeEnv(url string) []string {
	return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=fake", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
}

func prepareCodex(s *site, home, url string, server []string) (arguments, env []string) {
	quoted := make([]string, 0, len(server))
	for _, word := range server {
		quoted = append(quoted, fmt.Sprintf("%q", word))
	}
	s.write(filepath.Join(home, ".codex", "config.toml"), fmt.Sprintf(`model = "fake"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[mcp_servers.x]
command = %s
args = [%s]
`, url, quoted[0], strings.Join(quoted[1:], ", ")))
	return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json", "go"},
		[]string{"FAKE_KEY=fake"}
}

func prepareGemini(s *site, home, url string, server []string) (arguments, env []string) {
	s.write(filepath.Join(home, ".gemini", "settings.json"), toJSON(args{
		"security":   args{"auth": args{"selectedType": "gemini-api-key"}},
		"general":    args{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":    args{"usageStatisticsEnabled": false},
		"telemetry":  args{"enabled": false},
		"mcpServers": args{"x": args{"command": server[0], "args": server[1:], "trust": true}},
	}))
	s.write(filepath.Join(home, ".gemini", "trustedFolders.json"), toJSON(args{
		s.folder(home): "TRUST_FOLDER"}))
	return []string{"-p", "go", "-m", "gemini-2.5-flash", "--yolo", "--output-format", "json"},
		[]string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=fake"}
}

// environment makes a home folder, and returns what programs get beside their own
// settings. Proxies that do not exist keep them from the internet.
func (s *site) environment(home string) []string {
	s.t.Helper()
	const nowhere = "http://127.0.0.1:9"
	return []string{"HOME=" + s.folder(home), "PATH=" + node(s.t) + ":/usr/bin:/bin", "LANG=C.UTF-8",
		"TERM=dumb", "HTTPS_PROXY=" + nowhere, "HTTP_PROXY=" + nowhere, "NO_PROXY=127.0.0.1,localhost"}
}

// begin runs an agent with a model.
func (s *site) begin(a agent, m *model) *run {
	s.t.Helper()
	home := a.name + "-home"
	arguments, env := a.prepare(s, home, m.url, s.sshCommand("mcp"))
	return s.start(a.name, s.folder(home), append(s.environment(home), env...),
		append([]string{bin(s.t, a.pkg, a.program)}, arguments...)...)
}
