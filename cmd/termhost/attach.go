package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"termhost/ahp/commandline"
	"termhost/cmd/termhost/local"
	"termhost/cmd/termhost/local/predict"
	"termhost/cmd/termhost/share"
	"termhost/cmd/termhost/sshcmd"
	"termhost/ptypool/keyboard"
	"termhost/sshd/verbs/helptext"
)

// retryTime is how long `termhost attach` tries to connect again: a reboot takes less. In help it
// is retryDefault.
const (
	retryTime    = 10 * time.Minute
	retryDefault = "10m"
)

// attachFlags are the flags of `termhost attach` that are for this program.
func attachFlags() []helptext.Flag {
	return []helptext.Flag{
		{Shape: "--predict", Value: "HOW", Help: "when what you type is shown, underlined," +
			" before the host has shown it: adaptive, while a round trip takes more than 60 ms," +
			" which is the default, always, or never"},
		{Shape: "--retry", Value: "D", Help: "for how long it tries to connect again when the" +
			" host or the network was away, to show the terminal again; without it " +
			retryDefault + ", 0: not at all"},
		{Shape: "--ssh", Value: "DEST", Help: "a terminal of another host, to which your own ssh" +
			" leads: what ssh is told to reach it, such as ann@vm, or \"-p 2222 vm\""},
	}
}

// usualPrefix is Ctrl-\, the prefix key of a host whose configuration is not known.
const usualPrefix = 0x1c

// attachArgs are the arguments of `termhost attach`.
type attachArgs struct {
	file   string         // of the configuration; "": none was named
	retry  time.Duration  // how long it tries to come back
	when   predict.When   // keys are shown at once
	prefix string         // the name of the prefix key; "": it was not chosen
	ssh    *sshcmd.Target // the host elsewhere; nil: it is on this machine
	words  []string       // the verb's own
}

// attachTerminal is `termhost attach`: the verb of that name, again when the connection is lost.
func attachTerminal(c *call) int {
	verb := helptext.Attach()
	if len(c.args) > 0 && isHelp(c.args[0]) {
		c.explainVerb(verb)
		return exitOK
	}
	a, err := parseAttach(c.args)
	if err != nil {
		return c.badUsage(err.Error())
	}
	w, code := c.attachWay(a)
	if w == nil {
		return code
	}
	client, err := w.dial(context.Background())
	if err != nil {
		return fail(c.std, exitFailure, err.Error(), w.hint)
	}
	defer client.Close()
	if len(a.words) > 0 {
		ls := func() ([]byte, error) { return client.Output("ls --json") }
		if name := share.Within(ls, a.words[len(a.words)-1]); name != "" {
			return fail(c.std, exitFailure,
				name+" is the terminal you are in, which would be shown inside itself",
				"attach to it from another window")
		}
	}
	cmd := c.hostCommand(verb, a.words, a.file)
	if a.ssh != nil {
		cmd.Dir = "" // of another machine
	}
	cmd.Predict = a.when
	cmd.Return = local.Return{For: a.retry, Line: a.again, Prefix: a.prefixKey(w.prefix),
		Dial: w.dial}
	return c.runOn(client, cmd)
}

// attachWay is the way to the host that shows a terminal.
type attachWay struct {
	prefix byte // its prefix key, as far as is known
	dial   func(context.Context) (*local.Client, error)
	hint   string // for a host that is not reached
}

// attachWay returns the way to the host; nil: the user has been told why there is none, and the
// command ends with the exit code.
func (c *call) attachWay(a attachArgs) (w *attachWay, code int) {
	if a.ssh != nil {
		return c.sshWay(*a.ssh), exitOK
	}
	w, err := attachHere(a.file)
	if err != nil {
		return nil, fail(c.std, exitUsage, err.Error(), "")
	}
	return w, exitOK
}

// sshWay returns the way to a host elsewhere, by the user's own ssh. Only the first of them may ask
// or tell its user something.
func (c *call) sshWay(t sshcmd.Target) *attachWay {
	said := sshcmd.NewStderr(c.std.err)
	d := &sshcmd.Dialer{Target: t, Words: sshcmd.SSH(), Stderr: said}
	dial := func(ctx context.Context) (*local.Client, error) {
		said.Forget()
		shown := !said.Hidden()
		rw, err := d.Dial(ctx)
		if err != nil {
			return nil, err
		}
		client, err := local.Over(ctx, rw)
		said.Hide()
		if err != nil && shown && said.Last() != "" {
			return nil, fmt.Errorf("no connection to %s: ssh says why, above", t.Dest)
		}
		if line := said.Refusal(); err != nil && line != "" {
			return nil, fmt.Errorf("%w: %s", local.ErrRefused, line)
		}
		if line := said.Last(); err != nil && line != "" {
			return nil, errors.New(line)
		}
		return client, err
	}
	return &attachWay{usualPrefix, dial, hintRemote}
}

// parseAttach takes the flags that are for this program out of the arguments.
func parseAttach(args []string) (a attachArgs, err error) {
	a.retry, a.when = retryTime, predict.Adaptive
	for len(args) > 0 {
		if args[0] == "--" {
			a.words = append(a.words, args...)
			break
		}
		name, value, valued := strings.Cut(args[0], "=")
		taken := 1
		if !valued && len(args) > 1 {
			value, valued, taken = args[1], true, 2
		}
		switch name {
		case "-c":
			if taken == 1 {
				return a, errors.New("-c needs the path of a configuration file")
			}
			a.file = value
		case "--retry", "-retry":
			a.retry, err = time.ParseDuration(value)
			if !valued || err != nil || a.retry < 0 {
				return a, fmt.Errorf("--retry needs a duration with its unit, such as 5s or 10m, "+
					"or 0, and not %q", value)
			}
		case "--predict", "-predict":
			if a.when, err = predict.Parse(value); err != nil {
				return a, fmt.Errorf("--predict: %w", err)
			}
		case "--ssh", "-ssh":
			t, err := sshcmd.Parse([]string{value})
			if !valued || err != nil {
				return a, fmt.Errorf("--ssh needs a host, as ssh has it: %w", err)
			}
			a.ssh = &t
		case "--prefix", "-prefix", "--history", "-history":
			if strings.HasSuffix(name, "prefix") {
				a.prefix = value
			}
			a.words = append(a.words, args[:taken]...)
		default:
			taken = 1
			a.words = append(a.words, args[0])
		}
		args = args[taken:]
	}
	if a.ssh != nil && a.file != "" {
		return a, errors.New("-c FILE is for this machine: another host has its own")
	}
	return a, nil
}

// prefixKey returns the user's prefix key, which is the host's if they have not chosen one.
func (a attachArgs) prefixKey(host byte) byte {
	for _, name := range []string{a.prefix, os.Getenv(keyboard.PrefixVariable)} {
		if key, err := keyboard.ParsePrefix(name); name != "" && err == nil {
			return key
		}
	}
	return host
}

// again returns the command line that shows a terminal again.
func (a attachArgs) again(name string, readOnly bool) string {
	words := []string{helptext.AttachName}
	if a.prefix != "" {
		words = append(words, "--prefix="+a.prefix)
	}
	if readOnly {
		words = append(words, "-r")
	}
	return commandline.Join(append(words, "--", name))
}
