//go:build linux && !laptop

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/logs"
	"termhost/cmd/termhost/processors"
	"termhost/cmd/termhost/service"
	"termhost/ptypool/nonce"
	"termhost/ptypool/ticks"
)

const (
	// shutdownTime bounds a shutdown: the grace after SIGHUP, and time to write the last output.
	shutdownTime = 8 * time.Second
	// endTime is how long after the signal the process ends at the latest: before a service manager
	// or a person would lose patience.
	endTime = 9500 * time.Millisecond
	// confirmTime is how long a second ^C confirms the first: long enough to read the question,
	// short enough that a slip of the fingers an hour later confirms nothing.
	confirmTime = 3 * time.Second
	// safeUmask has the bits that are always set in the umask: only the host's user may write to
	// files that are made in terminals. A service manager or a careless script may leave the
	// umask at 0.
	safeUmask = 0o022
)

// serve runs the host until a signal stops it.
func serve(c *call) int {
	fs, std := c.flags(), c.std
	file := fs.String("c", "", "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	watched := config.WatchFile(*file) // before Load: a change during the start counts
	place, err := config.Find(*file)
	if err != nil {
		return failConfig(std, err)
	}
	cfg, err := config.Load(*file)
	if err != nil {
		return failConfig(std, err)
	}
	syscall.Umask(syscall.Umask(safeUmask) | safeUmask)
	log, flush := logs.New(std.err)
	if err := nonce.Undumpable(); err != nil {
		log.Warn("this process's memory is open to its user's programs", "err", err)
	}
	sigs := catchSignals(isTerminal(std.in))
	defer sigs.release()
	defer flush() // while SIGPIPE is still caught
	service.SetMemoryLimit(int64(cfg.MemoryLimit), log)
	s, err := startServer(cfg, log)
	if err != nil {
		return fail(std, exitFailure, err.Error(), hintFor(err))
	}
	hello := s.greeting()
	hello.config = place
	hello.print(std.out)
	ended, end := context.WithCancel(context.Background())
	defer end()
	go processors.Adapt(ended, s.host.Meter())
	code := exitOK
	sig, err := s.untilStopped(sigs, watched, std)
	if err != nil {
		code = fail(std, exitFailure, err.Error(), "")
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	go func() {
		select {
		case <-sigs.stop: // another one: the user does not want to wait
			fmt.Fprintln(std.out, impatient)
			cancel()
		case <-ctx.Done():
		}
	}()
	s.endWhenStopped(ctx, cancel)
	lastResort := time.AfterFunc(endTime, func() {
		log.Error("the host does not end by itself, and is ended")
		os.Exit(exitFailure)
	})
	defer lastResort.Stop()
	shutdown := s.shutdown
	if s.leaves(sig) {
		shutdown = func(ctx context.Context) error { return s.leave(ctx, std.out) }
	}
	if err := shutdown(ctx); err != nil {
		log.Warn("shutdown was not clean", "err", err)
	}
	return code
}

// endWhenStopped ends a shutdown's wait for the ends of programs, by calling cancel, if the keeper,
// which tells them, does not answer.
func (s *server) endWhenStopped(ctx context.Context, cancel func()) {
	if s.keeper == nil {
		return
	}
	go func() {
		if err := s.keeper.Check(); err != nil && ctx.Err() == nil {
			s.log.Error("the host ends without waiting for its keeper", "err", err)
			cancel()
		}
	}()
}

// failConfig says why a host does not start with its configuration, and returns the exit code.
func failConfig(std stdio, err error) int {
	var bad *config.Error
	if errors.As(err, &bad) {
		return fail(std, exitUsage, "the configuration has mistakes:\n"+bad.Error(),
			"config.example.toml shows every key")
	}
	return fail(std, exitFailure, err.Error(), "")
}

// leaves reports whether the keeper keeps the terminals when a signal ends the host. It does after
// SIGTERM, with which a service manager restarts the host, and after a failure of the host (nil).
func (s *server) leaves(sig os.Signal) bool {
	return s.keeper != nil && (sig == syscall.SIGTERM || sig == nil)
}

// impatient is the answer to a signal that comes while the host is ending.
const impatient = "not waiting: what is left is killed"

// signals has the channels in which the process's signals arrive.
type signals struct {
	stop   chan os.Signal // SIGINT, SIGTERM and stopSignal; at a terminal SIGQUIT too
	reload chan os.Signal // SIGHUP
	pipe   chan os.Signal // SIGPIPE, which nobody receives
}

// stopSignal ends a host with its terminals and its keeper; `termhost stop` sends it. Unlike SIGINT
// it needs no confirmation.
const stopSignal = syscall.SIGUSR1

// catchSignals delivers the process's signals to channels. SIGPIPE is caught so that write(2)
// returns an error, and the host goes on, when the program that reads the log or the greeting has
// ended (package os/signal, "SIGPIPE"). It is not ignored, because every program in a terminal
// would inherit that (exec(2)).
//
// interactive says that a person may press keys here. A Ctrl-\ then counts as a ^C: it is also the
// prefix of an attach, and by default SIGQUIT would end the host and every terminal at once.
func catchSignals(interactive bool) signals {
	s := signals{make(chan os.Signal, 2), make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(s.stop, syscall.SIGINT, syscall.SIGTERM, stopSignal)
	if interactive {
		signal.Notify(s.stop, syscall.SIGQUIT)
	}
	signal.Notify(s.reload, syscall.SIGHUP)
	signal.Notify(s.pipe, syscall.SIGPIPE)
	return s
}

func (s signals) release() {
	signal.Stop(s.stop)
	signal.Stop(s.reload)
	signal.Stop(s.pipe)
}

// untilStopped puts changes of the configuration in force until the host is to end, and tells the
// user how many terminals end with it. It returns the signal that ends the host, or the host's
// failure.
func (s *server) untilStopped(sigs signals, file *config.File, std stdio) (os.Signal, error) {
	tick := time.NewTimer(ticks.Wait(configInterval))
	defer tick.Stop()
	interactive := isTerminal(std.in)
	var asked time.Time // when the last ^C was asked to be repeated
	for {
		select {
		case <-tick.C:
			tick.Reset(ticks.Wait(configInterval))
			s.followFleet()
			if file.Changed() {
				s.reload(file)
			}
		case <-sigs.reload:
			s.reloadAll(file)
		case sig := <-sigs.stop:
			n := s.host.Stats().Terminals
			asks := sig == syscall.SIGINT || sig == syscall.SIGQUIT
			if asks && interactive && n > 0 && time.Since(asked) > confirmTime {
				asked = time.Now()
				io.WriteString(std.out, s.askAgain(n))
				continue
			}
			s.logStop(sig, n, std.out)
			return sig, nil
		case err := <-s.failed:
			return nil, err
		}
	}
}

// askAgain answers a first ^C, which would end n terminals, and says what ends only the host, if
// something does.
func (s *server) askAgain(n int) string {
	// The terminal has shown ^C, with no line break.
	text := fmt.Sprintf("\n%s; ^C again within %d s ends %s\n",
		count(n, "terminal is running", "terminals are running"),
		confirmTime/time.Second, choose(n, "it", "them"))
	if s.leaves(syscall.SIGTERM) {
		text += fmt.Sprintf("To stop the host and keep %s for the next `termhost serve`: kill %d\n",
			choose(n, "it", "them"), os.Getpid())
	}
	return text
}

// logStop logs the signal that ends the host, and tells the user if n terminals end with it.
func (s *server) logStop(sig os.Signal, n int, out io.Writer) {
	s.log.Info("shutting down", "signal", sig.String(), slog.Int("terminals", n))
	if !s.leaves(sig) {
		announceEnd(out, n)
	}
}

// announceEnd tells a person that n terminals are about to end.
func announceEnd(out io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(out, "ending %s\n", count(n, "terminal", "terminals"))
	}
}

// count writes n with the word for one thing or for several.
func count(n int, one, several string) string {
	return fmt.Sprintf("%d %s", n, choose(n, one, several))
}

func choose(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// isTerminal reports whether r is a terminal.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
