package host

// damagedLog is what listings say of a terminal whose log is.
const damagedLog = "log damaged"

// tellDamage says in the host's log that t's is damaged, if it is.
func (l *terminalLog) tellDamage(r *remains) {
	if r.Damaged {
		l.t.host.log.Warn("the log of a terminal is damaged: what is whole is shown, and a gap",
			"name", l.t.Name(), "folder", r.Dir, "damage", l.damage)
	}
}
