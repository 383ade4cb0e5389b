package store

import (
	"strings"
	"sync"
	"testing"

	"termhost/ahp"
)

func TestTheLogIsBoundedWhateverIsAppended(t *testing.T) {
	const logBytes = 64 << 10
	long := strings.Repeat("x", 1<<10)
	session := ahp.Claim{Kind: ahp.ClaimSession, Session: long, TurnID: long}
	for name, tc := range map[string]struct {
		action ahp.Action
		origin *ahp.Origin
		size   int // the least that an entry weighs
	}{
		"data":     {ahp.TerminalData{Data: []byte(long)}, nil, 1 << 10},
		"titles":   {ahp.TerminalTitleChanged{Title: long}, nil, 1 << 10},
		"cwds":     {ahp.TerminalCwdChanged{Cwd: long}, nil, 1 << 10},
		"clients":  {ahp.TerminalClaimed{Claim: ahp.ClientClaim(long)}, nil, 1 << 10},
		"sessions": {ahp.TerminalClaimed{Claim: session}, nil, 2 << 10},
		"commands": {ahp.TerminalCommandExecuted{CommandID: long, CommandLine: long}, nil, 2 << 10},
		"finishes": {ahp.TerminalCommandFinished{CommandID: long}, nil, 1 << 10},
		"origins":  {ahp.TerminalCleared{}, &ahp.Origin{ClientID: long}, 1 << 10},
		"unknown":  {ahp.Unknown{Name: "x", Raw: []byte(long)}, nil, 1 << 10},
		"small":    {ahp.TerminalResized{Cols: 1, Rows: 1}, nil, 128},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{LogBytes: logBytes})
			c := newTerminal(t, s, "a")
			for range 1000 {
				c.Append(tc.action, tc.origin)
			}
			n := len(c.log.entries)
			if n*tc.size > logBytes || n*(tc.size+256) < logBytes/2 {
				t.Errorf("%d entries", n)
			}
		})
	}
	t.Run("lists", func(t *testing.T) {
		s := New(Options{LogBytes: logBytes})
		for range 1000 {
			s.PublishTerminals()
		}
		if n := len(s.root.log.entries); n != 1 {
			t.Errorf("the root's log holds %d lists", n)
		}
	})
}

func TestAnEntryLargerThanTheLogIsStillDelivered(t *testing.T) {
	s := New(Options{LogBytes: 1 << 10})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	c.AppendData(make([]byte, 64<<10))
	items := pullAll(sub)
	if got := types(items); got != "data" || len(dataOf(items[0])) != 64<<10 {
		t.Error(got)
	}
}

func TestEncodingsAreSharedAndDroppedWhenNobodyNeedsThem(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	fast, slow := subscribed(t, s, c), subscribed(t, s, c)
	escapes := []byte(strings.Repeat("\x1b", 1000)) // JSON takes 6 bytes for each
	appendEsc := func() { c.AppendData(escapes) }
	kept := func() (n int) {
		for _, e := range c.log.entries {
			n += e.keptBytes()
		}
		return n
	}
	appendEsc()
	pullAll(fast)
	if kept() < 6000 || c.log.encoded != kept() {
		t.Errorf("%d bytes are kept for the slow reader, %d accounted for", kept(), c.log.encoded)
	}
	first := c.log.entries[0].encoded[0].Load()
	items := slow.Pull(nil, 1<<20)
	write(items)
	if c.log.entries[0].encoded[0].Load() != first {
		t.Error("the slow reader encoded it again")
	}
	slow.Pull(nil, 1)
	if kept() != 0 || c.log.encoded != 0 {
		t.Errorf("%d bytes are kept for nobody, %d accounted for", kept(), c.log.encoded)
	}

	appendEsc()
	pullAll(fast)
	if kept() == 0 {
		t.Error("nothing is kept for the slow reader")
	}
	slow.Close()
	if kept() != 0 || c.log.encoded != 0 {
		t.Error("the slow reader has left and its encodings stay")
	}
	appendEsc()
	write(fast.Pull(nil, 1))
	if kept() != 0 || c.log.encoded != 0 {
		t.Error("a reader alone needs no encoding kept")
	}
}

func TestAnEncodingMadeTooLateIsNotKept(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	slow, leaving := subscribed(t, s, c), subscribed(t, s, c)
	c.AppendData([]byte("x"))
	items := leaving.Pull(nil, 1)
	pullAll(slow)
	leaving.Close() // its writer still encodes
	write(items)
	if n := c.log.entries[0].keptBytes(); n != 0 {
		t.Errorf("%d bytes are kept for nobody", n)
	}
}

func TestAnEncodingMadeWhileItIsDroppedIsNotKept(t *testing.T) {
	long := make([]byte, 64<<10) // it takes a while to encode
	for range 200 {
		e := &Entry{action: ahp.TerminalData{Data: long}}
		e.shared.Store(true)
		begun := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			close(begun)
			e.appendBody(nil, ahp.ShapeLifecycle)
		})
		<-begun
		e.dropEncoded()
		reader.Wait()
		if e.keptBytes() > 0 {
			t.Fatal("an encoding is kept for nobody")
		}
	}
}

func TestEncodingsGiveWayBeforeEntries(t *testing.T) {
	const logBytes = 256 << 10
	s := New(Options{LogBytes: logBytes})
	c := newTerminal(t, s, "a")
	stopped, reading := subscribed(t, s, c), subscribed(t, s, c)
	for range 500 {
		c.AppendData([]byte(strings.Repeat("\x1b", 1000)))
		pullAll(reading)
		if l := &c.log; l.bytes+l.encoded > logBytes {
			t.Fatalf("%d+%d bytes", l.bytes, l.encoded)
		}
		if l := &c.log; l.base > 0 && l.bytes < logBytes*3/4-2000 {
			t.Fatalf("encodings pushed entries out: %d+%d bytes", l.bytes, l.encoded)
		}
	}
	if c.log.encoded != 0 {
		t.Error("the reader that stopped fell off, and encodings are kept for it")
	}
	if got := types(stopped.Pull(nil, 1<<20)); !strings.HasPrefix(got, "cleared") {
		t.Error(got)
	}
}

func TestContentIsCutAtCheckpointsOnly(t *testing.T) {
	s := New(Options{ContentBytes: 4 << 10})
	c := newTerminal(t, s, "a")
	for range 20 { // no checkpoint: nothing may be cut
		c.AppendData(make([]byte, 1<<10))
	}
	if st, _ := c.Terminal(); st.Content[0].Text.Len() != 20<<10 {
		t.Fatal("the content was cut where it may not be")
	}
	before, _ := c.Terminal()
	c.Checkpoint([]byte("unused"))
	c.Checkpoint([]byte("modes"))
	c.Append(ahp.TerminalTitleChanged{Title: "t"}, nil)
	if st, _ := c.Terminal(); st.Content[0].Text.Len() != 20<<10 {
		t.Fatal("nothing is left of the content though nothing came behind the checkpoint")
	}
	c.AppendData([]byte("tail"))
	if st, _ := c.Terminal(); st.Content[0].Text.String() != "modestail" {
		t.Errorf("%.60q", st.Content[0].Text.String())
	}
	if before.Content[0].Text.Len() != 20<<10 {
		t.Error("an earlier view was cut")
	}
}

func TestCommandsWithoutOutputDoNotStayForEver(t *testing.T) {
	s := New(Options{ContentBytes: 64 << 10})
	c := newTerminal(t, s, "a")
	for range 10_000 {
		c.Append(ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "true"}, nil)
		c.Append(ahp.TerminalCommandFinished{CommandID: "1"}, nil)
		if c.CheckpointDue() {
			c.Checkpoint(nil)
		}
	}
	if st, _ := c.Terminal(); len(st.Content) > 64<<10/partOverhead {
		t.Errorf("%d parts", len(st.Content))
	}
}

func TestTinyAppendsMakeFewChunks(t *testing.T) {
	s := New(Options{ContentBytes: 1 << 20})
	c := newTerminal(t, s, "a")
	p := []byte("ab")
	for range 100_000 {
		if c.AppendData(p) {
			c.Checkpoint(nil)
		}
	}
	st, _ := c.Terminal()
	if n := len(st.Content[0].Text.Chunks()); n > 20 {
		t.Errorf("%d chunks for %d bytes", n, st.Content[0].Text.Len())
	}
}

func TestAReaderWhoAppendsToWhatItWasGivenHarmsNobody(t *testing.T) {
	s := New(Options{})
	c := newTerminal(t, s, "a")
	sub := subscribed(t, s, c)
	c.AppendData([]byte("a"))
	d := sub.Pull(nil, 1)[0].Entry.Action().(ahp.TerminalData).Data
	c.AppendData([]byte("b"))
	_ = append(d, 'X')
	if st, _ := c.Terminal(); st.Content[0].Text.String() != "ab" {
		t.Error(st.Content[0].Text.String())
	}
}

func TestThePreamblesPlaceIsBeforeWhatIsLeftOfACommand(t *testing.T) {
	s := New(Options{ContentBytes: 2 << 10})
	c := newTerminal(t, s, "a")
	c.Append(ahp.TerminalCommandExecuted{CommandID: "1", CommandLine: "make"}, nil)
	c.AppendData(make([]byte, 2<<10))
	c.Checkpoint([]byte("<p>"))
	c.AppendData([]byte("rest"))
	st, _ := c.Terminal()
	p := st.Content[0]
	if len(st.Content) != 1 || p.Text.String() != "<p>rest" {
		t.Errorf("%d parts, %.40q", len(st.Content), p.Text)
	}
	if p.Command == nil || p.Command.Line != "make" {
		t.Error("what is left is not the command's any more")
	}
	c.Append(ahp.TerminalCommandFinished{CommandID: "1"}, nil)
	c.Checkpoint([]byte("<q>"))
	c.AppendData(make([]byte, 2<<10))
	st, _ = c.Terminal()
	p = st.Content[0]
	if len(st.Content) != 1 || p.Command != nil || !strings.HasPrefix(p.Text.String(), "<q>\x00") {
		t.Errorf("%d parts, %.40q", len(st.Content), p.Text)
	}
}
