package host

import (
	"os"

	"termhost/ahp/journal"
	"termhost/authz"
)

// beginDecisions makes the memory in which the keeper holds for the next host what people decide
// about the terminal, and returns the file to give to it; nil: there is no keeper. The caller
// begins the program. Without that memory no program begins: a guard would be lost.
func (l *terminalLog) beginDecisions() (*os.File, error) {
	if l.t.host.cfg().Keeper == nil {
		return nil, nil
	}
	ds, err := journal.NewDecisions()
	if err != nil {
		return nil, err
	}
	l.decisions = ds
	return ds.File(), ds.Write(l.decided())
}

// restoreDecisions continues an earlier host's. It is called before others know the terminal.
func (l *terminalLog) restoreDecisions(r *remains) {
	l.decisions, r.Decisions = r.Decisions, nil
	l.writeDecisions()
	l.outline.Decided = true
	h := l.t.host
	h.lastHeldID.Store(max(h.lastHeldID.Load(), r.Asks))
}

func (l *terminalLog) decided() journal.Decided {
	t := l.t
	name := t.naming.Load()
	return journal.Decided{
		Guarded: t.approvals.on, GuardedWhy: t.approvals.onWhy,
		Name: name.name, Former: name.former, Labels: t.Labels(),
		Holder: storedHolder(t.keyboard.holder),
		Loans:  storedLoans(t.keyboard.prior, t.keyboard.lent),
		Asks:   t.host.lastHeldID.Load(), Described: l.journal.Described(),
	}
}

// writeDecisions has the keeper hold the present decisions, and reports whether it does.
func (l *terminalLog) writeDecisions() bool { return l.decisions.Write(l.decided()) == nil }

// keepDecisions makes sure that the next host knows the present decisions: from the keeper or, if
// that does not hold them, because a host of an older version has started the program, from the
// disk. It fails with *NotKeptError. A program that ends with its host needs neither.
func (l *terminalLog) keepDecisions() error {
	held := l.writeDecisions()
	l.keepDescription()
	t := l.t
	if held || t.host.cfg().Keeper == nil || t.exec.kind() != authz.Server {
		return nil
	}
	if why := l.journal.NotKept(); why != "" {
		return &NotKeptError{Terminal: t.Name(), Why: why}
	}
	return nil
}

// tellGuarded says, in the host's log and in the audit log, that the host has guarded the terminal
// by itself, if it has.
func (t *Terminal) tellGuarded() {
	if why := t.approvals.onWhy; why != "" {
		t.host.log.Warn("a terminal is guarded because nobody knows whether it was",
			"name", t.Name(), "why", why)
		t.host.auditLog.Info(authz.AuditGuard, "terminal", t.Name(), "guard", "on", "reason", why)
	}
}
