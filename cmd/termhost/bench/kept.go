package bench

import (
	"errors"
	"os"
	"sync"
	"time"
)

// keeping is how a server keeps terminals that have no viewer: by SSH commands.
type keeping struct {
	start  func(name, line string) string // a terminal of 80 x 24 that runs a line of shell
	attach func(name string) string       // a viewer
	watch  func(name string) string       // one without a say in the terminal's size; nil: none

	// shows is what every viewer gets when it is there.
	shows string
	// redraws is what a viewer gets from a program that has printed [ready] and copies its input.
	redraws string
	// scrolls reports whether what has left the screen is kept.
	scrolls bool
}

// kept is a terminal that needs no viewer. It must be closed.
type kept struct {
	r       *Rival
	name    string
	program *os.Process // nil: it runs elsewhere
}

// keep starts a program in such a terminal and waits until it is ready.
// [errors.ErrUnsupported]: the server has none.
func (r *Rival) keep(p program) (*kept, error) {
	if r.keeping == nil {
		return nil, errors.ErrUnsupported
	}
	name := r.newName()
	file := r.pidFile(name)
	if _, err := r.run(r.keeping.start(name, p.line(file))); err != nil {
		return nil, err
	}
	if r.dir == "" {
		return &kept{r: r, name: name}, nil
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		process, err := processOf(file)
		switch {
		case err != nil:
			return nil, err
		case process != nil:
			return &kept{r, name, process}, nil
		case time.Now().After(deadline):
			return nil, errors.New("a terminal's program does not start")
		}
	}
}

// Close ends the program, and so the terminal.
func (k *kept) Close() {
	if k.program == nil {
		k.r.remove(k.name)
		return
	}
	_ = k.program.Kill() // it may have ended
}

// attach logs in and views the terminal.
func (k *kept) attach() (*Session, error) {
	return k.view(k.r.keeping.attach(k.name), window{}, k.r.keeping.shows)
}

// view logs in and runs an SSH command that views the terminal, until it has shown something.
func (k *kept) view(command string, w window, shows string) (*Session, error) {
	s, err := k.r.startSSH(command, w)
	if err != nil {
		return nil, err
	}
	if err := within(s, func() error { return await(s.Out, shows) }); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// several opens n sessions, some at a time: sshd takes long to let one in.
func several(n int, open func() (*Session, error)) ([]*Session, error) {
	const atOnce = 4
	list, errs := make([]*Session, n), make([]error, n)
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			list[i], errs[i] = open()
			<-slots
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		closeAll(list)
		return nil, err
	}
	return list, nil
}

// closeAll closes sessions; those that are nil were never opened.
func closeAll(list []*Session) {
	for _, s := range list {
		if s != nil {
			s.Close()
		}
	}
}
