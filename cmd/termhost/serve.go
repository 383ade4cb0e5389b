package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"termhost/ahp/host"
)

// shutdownTime bounds a shutdown: SIGHUP's grace, and time to write last output.
const shutdownTime = 10 * time.Second

// serve runs the host until it is told to stop.
func serve(args []string, std stdio) int {
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	file := fs.String("c", "", "")
	if code, ok := parseFlags(fs, args, 0, "[-c FILE]", std); !ok {
		return code
	}
	cfg, err := loadConfig(*file)
	if err != nil {
		var bad *configError
		if errors.As(err, &bad) {
			return fail(std, exitUsage, "the configuration has mistakes:\n"+bad.Error(), "config.example.toml shows every key")
		}
		return fail(std, exitFailure, err.Error(), "")
	}
	log := newLogger(std.err)
	stop := make(chan os.Signal, 2)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(stop)
	s, err := startServer(cfg, log)
	if err != nil {
		return fail(std, exitFailure, err.Error(), hintFor(err))
	}
	s.greeting().print(std.out)
	defer watchConfig(*file, cfg, s, log)()
	code := exitOK
	select {
	case sig := <-stop:
		log.Info("shutting down", "signal", sig.String())
	case err := <-s.failed:
		code = fail(std, exitFailure, err.Error(), "")
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	go func() {
		<-stop // a second signal is impatience
		cancel()
	}()
	if err := s.shutdown(ctx); err != nil {
		log.Warn("shutdown was not clean", "err", err)
	}
	return code
}

// listenError is a listener that cannot be had.
type listenError struct {
	key, addr string
	err       error
}

func (e *listenError) Error() string {
	reason := e.err
	var sys *os.SyscallError
	if errors.As(e.err, &sys) {
		reason = sys.Err
	}
	return fmt.Sprintf("cannot listen on %s: %v", e.addr, reason)
}

func (e *listenError) Unwrap() error { return e.err }

func hintFor(err error) string {
	var l *listenError
	if errors.As(err, &l) && errors.Is(err, syscall.EADDRINUSE) {
		return "another termhost may be running; stop it, or set " + l.key + " to another port"
	}
	return ""
}

func listen(key, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, &listenError{key: key, addr: addr, err: err}
	}
	return l, nil
}

// lockState makes sure that no other host uses the state folder. The lock goes
// with the file.
func lockState(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write to the state folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another termhost is running with the state folder %s; stop it, or set state_dir", dir)
	}
	return f, nil
}

// hostConfig maps the configuration to the host's.
func hostConfig(cfg config, log *slog.Logger) host.Config {
	return host.Config{
		StateDir:         cfg.StateDir,
		Version:          version(),
		Shell:            cfg.Terminal.Shell,
		Login:            cfg.Terminal.Login,
		Term:             cfg.Terminal.Term,
		Env:              cfg.Terminal.Env,
		ShellIntegration: cfg.Terminal.ShellIntegration,
		MaxTerminals:     cfg.Terminal.MaxTerminals,
		MaxExited:        cfg.Terminal.MaxExited,
		ExitedTTL:        time.Duration(cfg.Terminal.ExitedTTL),
		ScrollbackBytes:  int(cfg.Terminal.ScrollbackBytes),
		LogBytes:         int(cfg.Terminal.LogBytes),
		InputShared:      cfg.Terminal.Input == inputShared,
		ClientGrace:      time.Duration(cfg.Terminal.ClientGrace),
		ClientOutputRate: int(cfg.Terminal.ClientOutputRate),
		Log:              log,
	}
}
