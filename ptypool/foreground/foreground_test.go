package foreground

import "testing"

func TestQuestions(t *testing.T) {
	for text, want := range map[string]struct{ question, command, secret bool }{
		"":                                       {},
		"checking for cc...":                     {},
		"Overwrite (y/n)?":                       {question: true},
		"Name:":                                  {question: true},
		"Do you want to continue [Y/n]":          {question: true},
		"(1/1) Stage this hunk [y,n,q,a,d,e,?]?": {question: true},
		"$":                                      {command: true},
		"ann@host:~/src$":                        {command: true},
		"ann@host ~/my src $":                    {command: true},
		"[root@host tmp]#":                       {command: true},
		">>>":                                    {question: true, command: true},
		">>> 1 + f(":                             {command: true},
		"mysql> select":                          {command: true},
		"(gdb)":                                  {question: true, command: true},
		"(gdb) break main":                       {command: true},
		"In [1]:":                                {question: true, command: true},
		"name>":                                  {question: true, command: true},
		"50%":                                    {command: true},
		"Password:":                              {question: true, secret: true},
		"[sudo] password for ann: ****":          {secret: true},
		"Enter PIN for 'card':":                  {question: true, secret: true},
		"Passphrase for key>":                    {question: true, secret: true},
		"Reset the password?":                    {question: true},
		"Compass heading:":                       {question: true},
	} {
		if got := isQuestion(text); got != want.question {
			t.Errorf("%q is a question: %v", text, got)
		}
		if got := isCommandPrompt(text); got != want.command {
			t.Errorf("%q is a prompt for commands: %v", text, got)
		}
		if got := asksForSecret(text); got != want.secret {
			t.Errorf("%q asks for a secret: %v", text, got)
		}
	}
}

func TestInteractiveShells(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"bash"}, true},
		{[]string{"-bash"}, true},
		{[]string{"bash", "--rcfile", "/x", "-l"}, true},
		{[]string{"bash", "--norc", "-i"}, true},
		{[]string{"fish", "-C", "echo"}, true},
		{[]string{"busybox", "sh"}, true},
		{[]string{"bash", "-ic", "true"}, true},
		{[]string{"sh", "-c", "read x"}, false},
		{[]string{"bash", "-lc", "read x"}, false},
		{[]string{"bash", "script.sh", "-i"}, false},
		{[]string{"fish", "--command=read"}, false},
		{[]string{"busybox", "sh", "-c", "x"}, false},
	} {
		if got := isInteractive(c.args); got != c.want {
			t.Errorf("%q is interactive: %v", c.args, got)
		}
	}
}
