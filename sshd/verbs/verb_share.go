package verbs

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"

	"termhost/ahp/host"
	"termhost/ptypool/vt"
)

// shareRead is how much of a shared stream is read at a time, in bytes: two full packets.
const shareRead = 64 << 10

// defineShare shows standard input as the output of a terminal that everybody may watch and nobody
// types into.
func defineShare(fs *flag.FlagSet) func(*invocation) int {
	var o host.ShareOptions
	fs.StringVar(&o.Name, "n", "", "its `NAME`; otherwise the host chooses one")
	fs.IntVar(&o.Cols, "cols", 0, "its width in cells, `N`")
	fs.IntVar(&o.Rows, "rows", 0, "its height in cells, `N`")
	fs.BoolVar(&o.Pty, "raw", false, "what comes is a terminal's own output: \\n stays \\n")
	on := onFlag(fs)
	return func(v *invocation) int {
		if *on != "" {
			if status, done := v.runOn(*on, len(v.words)); done {
				return status
			}
		}
		return v.shareInput(o)
	}
}

// parseShare refuses a command: some expect `share` to run one.
func (v *invocation) parseShare() (status int, done bool) {
	if v.rest != "" {
		return v.misused("share runs no command;" +
			" `COMMAND | ssh HOST share` shows what one prints"), true
	}
	return v.parseWords(0, 0)
}

func (v *invocation) shareInput(o host.ShareOptions) int {
	sized := given(v.fs, "cols")
	switch {
	case v.onTerminal():
		return v.misused("share reads standard input: connect without a terminal (ssh without -t)")
	case sized != given(v.fs, "rows"):
		return v.misused("--cols and --rows go together")
	case sized && (o.Cols < 1 || o.Cols > host.MaxCols || o.Rows < 1 || o.Rows > host.MaxRows):
		return v.misused("--cols must be 1 to %d and --rows 1 to %d", host.MaxCols, host.MaxRows)
	}
	sh, err := v.Conn.Share(o)
	if err != nil {
		return v.failed(err)
	}
	defer sh.Close()
	name := sh.Terminal().Name()
	fmt.Fprintf(v.stderr, "termhost: standard input is shown as %s to everybody who may log in;"+
		" `%s` watches\n", v.shown(name), v.comeBack(name))
	return v.share(sh, o.Pty)
}

// share shows what the peer sends until it ends. An orderly end is an exit with status 0.
func (v *invocation) share(sh *host.Share, raw bool) int {
	read := make(chan error, 1)
	v.Go("reading what is shared", func() { read <- v.passOn(sh, raw) })
	var err error
	select {
	case err = <-read:
	case <-sh.Terminal().Done():
	case <-v.ctx.Done():
	}
	if _, over := sh.Terminal().Exit(); over {
		err = host.ErrExited
	}
	ended := v.ctx.Err() != nil
	name := v.shown(sh.Terminal().Name())
	switch {
	case err == nil && !ended && v.Answers():
		sh.Exit(StatusOK)
		return StatusOK
	case errors.Is(err, host.ErrExited):
		why := sh.Disposed()
		if why == "" {
			why = "ended " + cmp.Or(sh.Terminal().EndedBy(), "by the host")
		}
		fmt.Fprintf(v.stderr, "termhost: %s was %s\n", name, host.Printable(why))
		return StatusFailed
	case err != nil && !ended:
		return v.failed(err)
	}
	if why := v.ended(); why != nil {
		v.lastLine("[%s; %s ends with its connection]", whyLost(why), name)
	}
	return StatusLost
}

// passOn makes the peer's input the terminal's output. It returns nil at the end.
func (v *invocation) passOn(sh *host.Share, raw bool) error {
	in := v.Stdin()
	buf, shown := make([]byte, shareRead), []byte(nil)
	var lines vt.LineEnds
	for {
		n, err := in.Read(buf)
		p := buf[:n]
		if !raw {
			shown = lines.Append(shown[:0], p)
			p = shown
		}
		if n > 0 {
			notice, err := sh.Output(v.ctx, p)
			if notice != "" {
				fmt.Fprintf(v.stderr, "termhost: %s\n", notice)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
