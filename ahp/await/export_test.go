package await

// Patterns returns the number of patterns that are looked for together with w's.
func Patterns(w *Wait) int {
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	return len(w.looker.patterns)
}

// Left returns the number of bytes that wait to be looked at.
func Left(l *Lookers) int64 {
	_, all := l.behind.Add("", 0)
	return all
}
