package helptext

import (
	"errors"
	"flag"
	"strconv"

	"termhost/ptypool/keyboard"
)

// Attach describes the verb attach, which a program also offers where no host runs, for a terminal
// of a host elsewhere. Roles is left out: any may use it.
func Attach() Verb {
	fs := flag.NewFlagSet(AttachName, flag.ContinueOnError)
	new(AttachFlags).Define(fs)
	return Verb{
		Name:  AttachName,
		Usage: "[-r] [-A] [--history N|all] [--prefix KEY] [NAME]",
		Help: "show a terminal: your last used, or NAME" +
			" (-r: read-only, -A: make it if there is none)",
		Terminal: true, Input: true, Flags: FlagsOf(fs),
		Examples: []string{"ssh -t HOST attach", "ssh -t HOST attach -r build"},
	}
}

// AttachFlags is what the flags of attach say.
type AttachFlags struct {
	ReadOnly bool
	Create   bool // make the terminal if there is none of that name
	History  int  // lines above the screen that are shown; 0: all; HistoryUnasked
}

const (
	// AttachName is the name of the verb attach.
	AttachName = "attach"
	// HistoryUnasked is that nobody has said how many lines above the screen are to be shown.
	HistoryUnasked = -1
	// PrefixFlag is the flag with which a person chooses the prefix key.
	PrefixFlag = "prefix"
)

// Define adds the flags to a set, which fills a in. The prefix key is only checked.
func (a *AttachFlags) Define(fs *flag.FlagSet) {
	a.History = HistoryUnasked
	fs.BoolVar(&a.ReadOnly, "r", false, "show it only; without a terminal, as a plain stream")
	fs.BoolVar(&a.Create, "A", false, "make it if there is none of that name")
	fs.Func(PrefixFlag, "the `KEY` that begins a command, such as ctrl-a; none: no key does; "+
		"SetEnv "+keyboard.PrefixVariable+"=KEY sets it for all verbs",
		func(text string) error {
			_, err := keyboard.ParsePrefix(text)
			return err
		})
	fs.Func("history", "`N` lines above the screen, or all; without it, as many as the line"+
		" carries in about 2 s that the window does not have from before",
		func(text string) (err error) {
			a.History, err = parseHistory(text)
			return err
		})
}

// parseHistory returns how many lines above the screen are to be shown; 0: all.
func parseHistory(text string) (lines int, err error) {
	if text == "all" {
		return 0, nil
	}
	if lines, err = strconv.Atoi(text); err != nil || lines < 1 {
		return 0, errors.New("give a number of lines, or all")
	}
	return lines, nil
}
