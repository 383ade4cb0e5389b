package history

import (
	"cmp"
	"maps"

	"termhost/ahp"
	"termhost/ptypool/termlog"
)

// survey is what a reader must know of a log before reading it.
type survey struct {
	start termlog.Spot // where the log starts
	end   *End         // the terminal's end, according to the log; nil: it has none
	// begun are the commands, by their IDs. The map is shared.
	begun   map[string]ahp.TerminalCommandExecuted
	took    map[string]int64 // how long they took, as it was told, in ms; likewise
	cleared *clearing        // where the terminal was cleared last; nil: nowhere
	// followed: the log has its beginning, or a checkpoint: see [Walker.Blind].
	followed bool

	spot  termlog.Spot // records from here on have not been surveyed
	bytes int          // about the memory of begun and took, in bytes
	own   bool         // begun and took are not shared, and may be changed
}

// commandCost is about the memory of a command besides its texts, in bytes.
const commandCost = 300

// look surveys the log from where the last survey ended.
func (r *reader) look() error {
	s := &r.survey
	*s = r.Index.surveyed()
	err := r.Records(func(start termlog.Spot) termlog.Spot {
		if start != s.start {
			*s = survey{start: start, spot: start}
		}
		return s.spot
	}, func(rec termlog.Record) bool {
		if r.stopped() {
			return false
		}
		s.take(rec, r.Format)
		return true
	})
	if r.err != nil {
		return r.err
	}
	if err == nil {
		r.Index.learn(s)
	}
	return err
}

func (s *survey) take(rec termlog.Record, f Format) {
	if next := rec.Next(); !next.IsZero() {
		s.spot = next
	}
	s.followed = s.followed || rec.Pos == 0 || rec.Kind == termlog.Checkpoint
	switch rec.Kind {
	case termlog.Exit:
		s.end = cmp.Or(f.Exit(rec.Payload), s.end)
	case termlog.Event:
		switch a, _ := f.Event(rec.Payload); a := a.(type) {
		case ahp.TerminalCommandExecuted:
			s.add(a)
		case ahp.TerminalCommandFinished:
			s.addEnd(a)
		case ahp.TerminalCleared:
			s.cleared = clearedAt(rec)
		}
	}
}

// makeOwn makes begun and took the survey's own.
func (s *survey) makeOwn() {
	if s.own {
		return
	}
	s.begun, s.took = maps.Clone(s.begun), maps.Clone(s.took)
	if s.begun == nil {
		s.begun, s.took = map[string]ahp.TerminalCommandExecuted{}, map[string]int64{}
	}
	s.own = true
}

func (s *survey) addEnd(a ahp.TerminalCommandFinished) {
	if _, known := s.begun[a.CommandID]; known && a.DurationMs != nil {
		s.makeOwn()
		s.took[a.CommandID] = *a.DurationMs
	}
}

func (s *survey) add(a ahp.TerminalCommandExecuted) {
	s.makeOwn()
	s.begun[a.CommandID] = a
	s.bytes += commandCost + len(a.CommandLine) + len(a.Cwd)
}
