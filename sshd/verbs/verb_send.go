package verbs

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"termhost/ahp/host"
	"termhost/ahp/spelling"
	"termhost/ptypool/keyboard"
)

// defineSend types into a terminal without showing it: first the text, then the keys in the order
// of the command line, then Enter. Keys before the text need a `send` of their own.
func defineSend(fs *flag.FlagSet) func(*invocation) int {
	enter := fs.Bool("enter", false, "press Enter at the end")
	var keys []keyboard.Key
	press := func(name string) error {
		k, err := keyboard.Parse(name)
		keys = append(keys, k)
		return err
	}
	fs.Func("key", "press `KEY`, such as up, ctrl-c, alt-x or f5, after TEXT", press)
	return func(v *invocation) int {
		if *enter {
			keys = append(keys, keyboard.Key{Code: keyboard.Enter})
		}
		return v.send(keys)
	}
}

// typing is what `send` types besides keys.
type typing struct {
	name  string // the terminal's NAME
	text  string
	stdin bool // standard input, instead of text
}

// parseSend reads flags, NAME and the text. The flags are before the text, which "--" may begin, or
// at the end of one that "--" does not begin.
func (v *invocation) parseSend() (status int, done bool) {
	at, named := v.textAt()
	head := v.words[:at]
	if named {
		i := v.operands()[0]
		v.typing.name = head[i]
		head = slices.Concat(head[:i], head[i+1:])
	}
	if status, done := v.typingFlags(head); done {
		return status, true
	}
	text, exact := v.textFrom(at)
	if !named { // it is behind "--", as a NAME that begins with "-" has to be
		name, behind, err := takeWord(text)
		switch {
		case err != nil:
			return v.misused("%v", err), true
		case name == "":
			return v.misused("%s needs an argument", v.verb.name), true
		}
		v.typing.name, text = name, behind
	}
	text, flags, err := v.written(text, exact)
	if err != nil {
		return v.misused("%v", err), true
	}
	if status, done := v.typingFlags(flags); done {
		return status, true
	}
	if text == "-" && !exact {
		v.typing.stdin = true
	} else {
		v.typing.text = text
	}
	return StatusOK, false
}

// textAt returns where in v.words the text of a verb begins that types some: behind the first NAME
// and the flags around it. named: there is a NAME.
func (v *invocation) textAt() (at int, named bool) {
	for at < len(v.words) {
		if n := knownFlags(v.fs, v.words[at:]); n > 0 {
			at += n
			continue
		}
		name, _, _ := flagName(v.words[at])
		switch {
		case name != "": // a flag that there is not
			return at + 1, named
		case named:
			return at, true
		}
		named = true
		at++
	}
	return at, named
}

// textFrom returns the text that begins at a word. exact: it is behind "--", and has no flags.
func (v *invocation) textFrom(at int) (text string, exact bool) {
	switch {
	case at < len(v.from):
		return v.from[at], false
	case v.open != "":
		return v.open, false
	}
	return v.rest, true
}

// written returns the text to type, without the flags at its end, unless it is to be typed exactly.
// A local peer has quoted each of its arguments.
func (v *invocation) written(text string, exact bool) (typed string, flags []string, err error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blanks, r) })
	if v.Local {
		if words, err = splitWords(text); err != nil {
			return "", nil, err
		}
		text = strings.Join(words, " ")
	}
	if exact {
		return text, nil, nil
	}
	n := len(words) - v.flagsAtEnd(words)
	for _, w := range slices.Backward(words[n:]) {
		text = strings.TrimRight(text, blanks)
		text = strings.TrimRight(strings.TrimSuffix(text, w), blanks)
	}
	return text, words[n:], nil
}

// flagsAtEnd returns how many words at the end are flags and their values, or may be a misspelt
// flag.
func (v *invocation) flagsAtEnd(words []string) (n int) {
	for n < len(words) {
		rest := words[:len(words)-n]
		last := len(rest) - 1
		name, _, _ := flagName(rest[last])
		switch {
		case knownFlags(v.fs, rest[last:]) == 1:
			n++
		case last > 0 && knownFlags(v.fs, rest[last-1:]) == 2:
			n += 2
		case n == 0 && name != "" && v.nearFlag(name):
			return 1
		default:
			return n
		}
	}
	return n
}

// typingFlags reads flags.
func (v *invocation) typingFlags(words []string) (status int, done bool) {
	_, status, done = v.flagsAtHead(words)
	if done && status != StatusOK {
		fmt.Fprintln(v.stderr, "hint: what follows -- is typed as it is")
	}
	return status, done
}

// nearFlag reports whether one of the verb's flags may be meant by a name.
func (v *invocation) nearFlag(name string) (found bool) {
	v.fs.VisitAll(func(f *flag.Flag) { found = found || spelling.Near(f.Name, name) })
	return found
}

func (v *invocation) send(keys []keyboard.Key) int {
	if v.typing.text == "" && !v.typing.stdin && len(keys) == 0 {
		return v.misused("say what to type: TEXT, -, --key or --enter")
	}
	t, err := v.find(v.typing.name)
	if err == nil && v.typing.stdin {
		err = v.sendStdin(t)
	}
	if err == nil && (v.typing.text != "" || len(keys) > 0) {
		err = v.Conn.Send(v.ctx, t, []byte(v.typing.text), keys...)
	}
	held := 0
	if err == nil {
		if held, err = v.Conn.Held(v.ctx, t); err != nil {
			err = fmt.Errorf("what %s had not read of it is dropped: %w", t.Name(), err)
		}
	}
	if err != nil {
		return v.failed(err)
	}
	if held > 0 {
		fmt.Fprintln(v.stderr, "held: the program does not read yet")
	}
	if why := t.Stopped(); why != "" {
		fmt.Fprintf(v.stderr, "%s: what is typed waits until Ctrl-Q\n", why)
	}
	return StatusOK
}

// sendStdin types standard input, to its end, as fast as the program reads it. It returns an error
// if the peer is lost before that.
func (v *invocation) sendStdin(t *host.Terminal) error {
	in, buf := v.Stdin(), make([]byte, host.MaxPiece)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if err := v.Conn.Type(v.ctx, t, buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case v.Answers():
			return nil
		default:
			return errCut
		}
	}
}

var errCut = errors.New("the connection was lost before the end of the input")
