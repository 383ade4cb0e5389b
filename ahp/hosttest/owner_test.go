package hosttest_test

import (
	"testing"

	"termhost/ahp/hosttest"
)

func TestAConfigurationNamesItsTest(t *testing.T) {
	for config, want := range map[string]string{
		"":                       "terminal.env.TERMHOST_TEST = \"T/a\"\n",
		"a = 1\n[http]\nb = 2\n": "a = 1\nterminal.env.TERMHOST_TEST = \"T/a\"\n[http]\nb = 2\n",
		"[terminal]\nc = 3\n\n[http]\nb = 2\n": "[terminal]\nc = 3\n" +
			"env.TERMHOST_TEST = \"T/a\"\n\n[http]\nb = 2\n",
		"[terminal]\nc = 3":                      "[terminal]\nc = 3\nenv.TERMHOST_TEST = \"T/a\"\n",
		"\tterminal.env = { A = '1' }\n":         "\tterminal.env = { TERMHOST_TEST = \"T/a\", A = '1' }\n",
		"[terminal]\nenv = {}\nc = 3\n\n":        "[terminal]\nenv = { TERMHOST_TEST = \"T/a\"}\nc = 3\n\n",
		"terminal.env.TERMHOST_TEST = \"T/a\"\n": "terminal.env.TERMHOST_TEST = \"T/a\"\n",
	} {
		if got := hosttest.OwnedConfig("T/a", config); got != want {
			t.Errorf("%q becomes\n%q, want\n%q", config, got, want)
		}
	}
}

func TestTheShellOfAConfigurationIsShUnlessItNamesOne(t *testing.T) {
	for config, want := range map[string]string{
		"":                                   "terminal.shell = \"/bin/sh\"\n",
		"[terminal]\nc = 3\n[http]\nb = 2\n": "[terminal]\nc = 3\nshell = \"/bin/sh\"\n[http]\nb = 2\n",
		"[terminal]\nshell = \"bash\"\n":     "[terminal]\nshell = \"bash\"\n",
		"terminal.shell = \"bash\"\n":        "terminal.shell = \"bash\"\n",
	} {
		if got := hosttest.ShConfig(config); got != want {
			t.Errorf("%q becomes\n%q, want\n%q", config, got, want)
		}
	}
}
