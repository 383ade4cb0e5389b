package verbs

import (
	"errors"
	"flag"
	"fmt"

	"termhost/ahp/host"
)

// defineDrop keeps standard input as a file for a terminal's program, and pastes its path.
func defineDrop(fs *flag.FlagSet) func(*invocation) int {
	as := fs.String("as", "", "what the file is called, `FILE`")
	return func(v *invocation) int { return v.drop(*as) }
}

var errNothing = errors.New("nothing came on standard input: say what with < FILE")

func (v *invocation) drop(as string) int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	d, err := v.Conn.Drop(t, true)
	if err != nil {
		return v.failed(err)
	}
	if err := v.receive(d); err != nil {
		d.Abort()
		return v.failed(err)
	}
	path, paste, err := d.Finish(as)
	if err != nil {
		return v.failed(err)
	}
	fmt.Fprintln(v.stdout, path)
	if _, err := v.Conn.SendText(v.ctx, t, true, []byte(paste)); err != nil {
		return v.failed(err)
	}
	return StatusOK
}

// receive adds standard input, to its end, to a file. It returns an error if the peer is lost
// before that.
func (v *invocation) receive(d *host.Drop) error {
	in, buf := v.Stdin(), make([]byte, host.MaxPiece)
	for {
		n, err := in.Read(buf)
		if _, bad := d.Write(buf[:n]); bad != nil {
			return bad
		}
		switch {
		case err == nil:
		case !v.Answers():
			return errCut
		case d.Size() == 0:
			return errNothing
		default:
			return nil
		}
	}
}
