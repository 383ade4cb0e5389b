package idle

import "time"

// Printed records that there was output, or that the program has started. It reports whether that
// ends the mark that it is quiet.
func (p *Program) Printed(now time.Time) (ended bool) {
	p.quiet.printed = now
	return p.setQuiet(false, 0)
}

// PrintedBefore records that the program has printed something with an earlier host.
func (p *Program) PrintedBefore(at time.Time) { p.quiet.printed = at }

// LastPrinted returns the time of the last output; zero: it is not known.
func (p *Program) LastPrinted() time.Time { return p.quiet.printed }

// Quiet reports whether the program is marked as quiet, and since when.
func (p *Program) Quiet() (since time.Time, on bool) { return p.quiet.since, p.quiet.on }

// Works reports whether output may be expected: the program is no shell at its prompt, and waits
// for nobody.
func (p *Program) Works() bool { return p.needs.shown == None && !p.looks.atRest }

// CheckQuiet marks the program as quiet if it works and has printed nothing for after, and removes
// the mark otherwise. It returns when to check again.
func (p *Program) CheckQuiet(now time.Time, after time.Duration, works bool) (
	changed bool, next time.Duration,
) {
	left := after - now.Sub(p.quiet.printed)
	changed = p.setQuiet(left <= 0 && works, after)
	if left <= 0 {
		left = after // a program that waits now may work later
	}
	return changed, left
}

// EndQuiet removes the mark, and reports whether it was set.
func (p *Program) EndQuiet() bool { return p.setQuiet(false, 0) }

// setQuiet reports whether the mark has changed.
func (p *Program) setQuiet(on bool, after time.Duration) bool {
	q := &p.quiet
	if q.on == on {
		return false
	}
	q.on = on
	if on {
		q.since = q.printed.Add(after)
	}
	return true
}
