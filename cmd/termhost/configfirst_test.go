package main

import (
	"strings"
	"testing"
)

func TestTheConfigurationMayStandFirst(t *testing.T) {
	for words, want := range map[string]string{
		"-c f ls --json":                    "ls -c f --json",
		"-c f send -- -c x":                 "send -c f -- -c x",
		"-c f serve":                        "serve -c f",
		"-c f share -n x --local":           "share -n x --local -c f",
		"-c f page --local --role admin x":  "page --local -c f --role admin x",
		"-c f acp --local -- agent --local": "acp --local -c f -- agent --local",
		"-c f mcp --as x --local y":         "mcp --as x --local -c f y",
		"-c f nothing":                      "nothing -c f", // is told of by its name
	} {
		got, err := configBehind(strings.Fields(words))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("termhost %s is %q, %v", words, got, err)
		}
	}
	for words, want := range map[string]string{
		"-c":              "-c FILE stands before a command",
		"-c ls":           "-c FILE stands before a command",
		"-c f version":    "version uses no configuration",
		"-c f share host": "-c FILE is for share --local",
	} {
		if _, err := configBehind(strings.Fields(words)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("termhost %s: %v", words, err)
		}
	}
}
