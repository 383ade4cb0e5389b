package commandline

import (
	"strings"
	"testing"
)

func TestATerminalIsNamedAfterTheCommandThatALineIsAbout(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"make -j4":                            "make",
		"FOO=1 sudo -u x make -j4":            "make",
		"cd /x && make":                       "make",
		`cd "my dir" && npm test`:             "npm",
		"cd 'a;b'; npm test":                  "npm",
		"set -euo pipefail; go test ./...":    "go",
		"set -e\ncd x\n./run.sh":              "run.sh",
		"source .venv/bin/activate && pytest": "pytest",
		". ~/.nvm/nvm.sh && nvm use && npm i": "nvm",
		"export A=1 B='2 3'; node x.js":       "node",
		"A=1 B=$(date +%s) cargo build":       "cargo",
		"timeout 60 npm test":                 "npm",
		"timeout -k 5 --signal=TERM 60s npm":  "npm",
		"timeout -s KILL 60 env A=1 -u B go":  "go",
		"nice -n 10 make":                     "make",
		"nice -n10 make":                      "make",
		"sudo -u me -E apt-get update":        "apt-get",
		"sudo -Eu me apt-get update":          "apt-get",
		"exec stdbuf -oL ping localhost":      "ping",
		"time make":                           "make",
		"nohup bash -lc 'cd x && python3 -m http.server' > /dev/null 2>&1 &": "python3",
		"if [ -f x ]; then make; fi":                                         "make",
		"if ! command -v rg; then apt install ripgrep; fi":                   "rg",
		"for f in *.go; do gofmt -l $f; done":                                "gofmt",
		"while true; do curl x; sleep 1; done":                               "curl",
		"case $x in a) ls;; esac":                                            "ls",
		"(cd sub && ls)":                                                     "ls",
		"{ ls; }":                                                            "ls",
		"# build it\nmake all":                                               "make",
		"2>&1 make | tee log":                                                "make",
		">log make":                                                          "make",
		"cat <<'EOF' > x\nset\nEOF":                                          "cat",
		"$EDITOR x; git diff":                                                "git",
		"/usr/bin/env python3 x.py":                                          "python3",
		`"/opt/my tools/run" x`:                                              "run",
		"time -p make":                                                       "make",
		"$'make' all":                                                        "make",
		"((n++)); make":                                                      "make",
		"f() { rm x; }; npm i":                                               "npm",
		"case $x in a|b) ls;; esac":                                          "ls",
		"cat <<EOF | grep x\n$(date)\nEOF":                                   "cat",
		`bash -c "cd \"my dir\" && make"`:                                    "make",
		"env $OPTIONS make":                                                  "make",
		"timeout ${T:-5} make":                                               "make",
		"print -l *(.) && make":                                              "print", // zsh's
		"if test -f x; make; end":                                            "make",  // fish's
		"begin; make; end":                                                   "make",
		"test -f x; and make":                                                "make",
		"cd x && make 'unclosed":                                             "make",
		"cat <<'EOF' > x\n" + strings.Repeat("a line (\n", maxLine) + "EOF": "cat",
		"cd x && node -e '" + strings.Repeat("f(); ", maxLine) + "'":        "node",
		"cd x && node -e \"" + strings.Repeat("f(); ", maxLine) + "\"":      "node",
		"set -e\n" + strings.Repeat("make all\n", maxLine):                  "make",
		"make " + strings.Repeat("(", maxLine):                              "make",
		strings.Repeat("(", 1<<20):                                          "sh",
		`""0&&!&0`:                                                          "0",
		"A=$((0 A":                                                          "sh", // the parser panics
		"make; A=$((0 A":                                                    "make",
		"[[ -f x ]]":                                                        "sh",
		"cd /tmp":                                                           "cd",
		"set -e":                                                            "set",
		"":                                                                  "sh",
		"&&":                                                                "sh",
		"'":                                                                 "sh",
		"$(":                                                                "sh",
		`\`:                                                                 "sh",
		"timeout 60":                                                        "timeout",
		"printf 'sure? '; read answer":                                      "printf",
	} {
		if got := Program([]string{"sh", "-c", line}); got != want {
			t.Errorf("%q is about %q, want %q", line, got, want)
		}
	}
}

func TestATerminalIsNamedAfterTheProgramThatALauncherRuns(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"npm test":                           "npm",
		"/usr/local/bin/npm test":            "npm",
		"bash -lc make":                      "make",
		"bash -l -c make":                    "make",
		"bash --norc --noprofile -c make":    "make",
		"bash -o pipefail -c make":           "make",
		"bash -euo pipefail -c make":         "make",
		"bash -euxc make":                    "make",
		"/bin/zsh -ic make":                  "make",
		"busybox sh -c make":                 "make",
		"env -i PATH=/bin bash -c make":      "make",
		"timeout 10 bash -c make":            "make",
		"bash script.sh -c no":               "bash",
		"bash":                               "bash",
		"env":                                "env",
		"env A=1":                            "env",
		"sudo -- make":                       "make",
		strings.Repeat("env ", 100) + "make": "env",
		"cd x":                               "cd",
		"python3 -c pass":                    "python3",
	} {
		if got := Program(strings.Fields(line)); got != want {
			t.Errorf("%q is named %q, want %q", line, got, want)
		}
	}
}

func FuzzProgram(f *testing.F) {
	f.Add(`cd "a b" && A=$(x) timeout 5 make 2>&1 | tee log # done`)
	f.Fuzz(func(t *testing.T, line string) {
		if Program([]string{"bash", "-lc", line}) == "" {
			t.Errorf("%q has no name", line)
		}
	})
}
