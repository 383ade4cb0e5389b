package host

// damagedLog is what listings say of a terminal whose log is.
const damagedLog = "log damaged"

// tellDamage says in the host's log that t's is damaged, if it is.
func (t *Terminal) tellDamage(r *remains) {
	if r.Damaged {
		t.host.log.Warn("the log of a terminal is damaged: what is whole is shown, and a gap",
			"name", t.Name(), "folder", r.Dir, "damage", t.damage)
	}
}
