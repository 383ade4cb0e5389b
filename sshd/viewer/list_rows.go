package viewer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/visible"
	"termhost/sshd/listing"
	"termhost/sshd/wording"
)

// rows are the terminals of a list. The list's lock guards them.
type rows struct {
	all      []*Row    // in the order of the list
	places   []string  // what there is to say of other hosts
	failed   string    // why there is no list
	listed   time.Time // when
	changes  uint64    // the host's then
	touched  time.Time // when a key was pressed last
	unsorted bool      // they may be in another order than sort's: see arrange

	current rowID // the row that keys act on
	sort    order
	filter  string
	fit     *listing.Fit
	fitted  int // for how many columns
	hosts   bool
}

const (
	// listAge is the least time between two lists of all terminals: each output below the list
	// causes a drawing.
	listAge = 400 * time.Millisecond
	// titleAge is how old it may be where only what nobody tells of has changed: titles, and when
	// something was printed.
	titleAge = time.Second
	// listLife is how old a list may become though nothing seems to have changed.
	listLife = 5 * time.Second
	// orderRest is how long after a key the order of rows stands still.
	orderRest = 2 * time.Second
)

// order is an order of the rows. In each, what wants the person comes first.
type order int

const (
	byGroup order = iota
	byName
	byAge
	byQuiet
	orders
)

func (o order) String() string {
	return [...]string{"by group", "by name", "newest first", "latest output first"}[o]
}

// refresh lists the terminals anew if something has changed.
func (l *list) refresh() {
	now := time.Now()
	age, changes := now.Sub(l.listed), l.s.Conn.Changes()
	settles := l.unsorted && now.Sub(l.touched) >= orderRest
	switch {
	case age < listAge:
		return
	case age >= listLife, settles, l.stale.Load():
	case changes == l.changes, age < titleAge:
		return
	}
	l.stale.Store(false)
	l.listed, l.changes, l.failed, l.fit = now, changes, "", nil
	infos, err := l.s.Conn.List()
	if err != nil {
		l.failed = l.s.explain(err)
	}
	self, others := "", []*Row(nil)
	if l.s.Others != nil {
		self = l.s.Others.Self()
		others, l.places = l.s.Others.Rows()
	}
	rows := make([]*Row, 0, len(infos)+len(others))
	for _, i := range infos {
		rows = append(rows, &Row{Info: i, Host: self, asks: l.asksOf(i)})
	}
	for _, r := range others {
		own := *r
		if r.Waiting != host.WaitingNone {
			own.asks = wording.Says(r.Info)
		}
		rows = append(rows, &own)
	}
	rows = slices.DeleteFunc(rows, func(r *Row) bool { return !l.o.selector.Selects(r.Labels) })
	l.hosts = self != "" || len(others) > 0
	l.arrange(rows, now.Sub(l.touched) < orderRest)
}

// asksOf returns what a terminal asks for; "": nothing.
func (l *list) asksOf(i host.Info) string {
	switch {
	case i.Waiting == host.WaitingNone || i.State != host.StateRunning:
		return ""
	case i.Waiting != host.WaitingApproval:
		return wording.Says(i)
	case i.Notice != "":
		return i.Notice
	}
	asks, _ := l.s.Conn.ReadableAsks(i.URI)
	switch {
	case len(asks) == 0:
		return ""
	case asks[0].Secret || len(asks[0].Lines) == 0:
		return asks[0].By + ": (a secret)"
	}
	return asks[0].By + ": " + visible.Plain(asks[0].Lines[0])
}

// arrange puts rows, which are all there are now, in order. still: those that were listed stay
// where they are.
func (l *list) arrange(rows []*Row, still bool) {
	seen := make(map[rowID]int, len(l.all))
	for i, r := range l.all {
		seen[r.id()] = i
	}
	l.unsorted = still
	at := slices.IndexFunc(l.all, func(r *Row) bool { return r.id() == l.current })
	has := slices.ContainsFunc(rows, func(r *Row) bool { return r.id() == l.current })
	if at >= 0 && !has && !l.ended[l.current] { // the person looks at it
		gone := *l.all[at]
		gone.gone, gone.WantsYou = true, false
		rows, still = append(rows, &gone), true
	}
	slices.SortStableFunc(rows, l.compare)
	for i := range rows {
		rows[i].part = partOf(rows[i])
	}
	if still {
		place := func(r *Row) int {
			if i, ok := seen[r.id()]; ok {
				return i
			}
			return len(seen)
		}
		slices.SortStableFunc(rows, func(a, b *Row) int { return place(a) - place(b) })
		for i, r := range rows {
			if n, ok := seen[r.id()]; ok {
				rows[i].part = l.all[n].part
			}
		}
	}
	l.all = rows
	for i := range l.all {
		l.all[i].words = "" // made when a filter needs them
	}
	for id := range l.marked {
		if !slices.ContainsFunc(rows, func(r *Row) bool { return r.id() == id && !r.gone }) {
			delete(l.marked, id)
		}
	}
	for id := range l.ended {
		if _, listed := seen[id]; !listed {
			delete(l.ended, id)
		}
	}
	l.pin()
}

// compare is the order of rows. Equal ones stay in the order in which they were made.
func (l *list) compare(a, b *Row) int {
	if l.sort == byGroup {
		return listing.Compare(a.Info, b.Info)
	}
	if d := wantsFirst(a) - wantsFirst(b); d != 0 {
		return d
	}
	switch l.sort {
	case byName:
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Host, b.Host))
	case byAge:
		return b.CreatedAt.Compare(a.CreatedAt)
	}
	return b.PrintedAt.Compare(a.PrintedAt)
}

// wantsFirst is 0 for a row that wants the person, and 1 for another one.
func wantsFirst(r *Row) int {
	if r.WantsYou {
		return 0
	}
	return 1
}

// partOf returns the heading of a row in an order by group.
func partOf(r *Row) string {
	switch {
	case r.WantsYou:
		return "wants you"
	case r.State == host.StateExited:
		return "exited"
	case r.Group == "":
		return "no group"
	}
	return host.Printable(r.Group)
}

// pin makes some row the current one, if there is any. So a key acts on a row that was seen.
func (l *list) pin() {
	if i := slices.IndexFunc(l.all, func(r *Row) bool { return r.at(l.o.from) }); i >= 0 {
		l.current, l.o.from = l.all[i].id(), Place{} // once
	}
	if !slices.ContainsFunc(l.all, func(r *Row) bool { return r.id() == l.current }) {
		l.current = rowID{}
		if match := l.matching(); len(match) > 0 {
			l.current = match[0].id()
		}
	}
}

// matching returns the rows that have each word of the filter. The current one stays.
func (l *list) matching() []*Row {
	words := strings.Fields(strings.ToLower(l.filter))
	if len(words) == 0 {
		return l.all
	}
	var match []*Row
	for i := range l.all {
		r := l.all[i]
		if r.words == "" {
			r.words = strings.ToLower(strings.Join([]string{r.Host, r.Name, stateOf(r),
				wording.Holder(r.Info, false), r.Group, r.Labels.String(), r.asks,
				wording.About(r.Info), wording.Folder(r.Info)}, " "))
		}
		lacks := func(word string) bool { return !strings.Contains(r.words, word) }
		if r.id() == l.current || !slices.ContainsFunc(words, lacks) {
			match = append(match, r)
		}
	}
	return match
}

// setFilter shows other rows. The current one becomes the first, if it does not match.
func (l *list) setFilter(text string) {
	l.filter = text
	current := l.current
	l.current = rowID{}
	match := l.matching()
	if slices.ContainsFunc(match, func(r *Row) bool { return r.id() == current }) {
		l.current = current
	} else if len(match) > 0 {
		l.current = match[0].id()
	}
}

// index returns where the current row is among match; 0 if it is not.
func (l *list) index(match []*Row) int {
	return max(slices.IndexFunc(match, func(r *Row) bool { return r.id() == l.current }), 0)
}

// row returns the current row; ok is false if there is none.
func (l *list) row() (r *Row, ok bool) {
	i := slices.IndexFunc(l.all, func(r *Row) bool { return r.id() == l.current })
	if i < 0 {
		return &Row{}, false
	}
	return l.all[i], true
}

// targets returns the rows that keys act on which act on several: those that are marked or, if none
// is, the current one.
func (l *list) targets() (list []*Row) {
	for _, r := range l.all {
		if l.marked[r.id()] && !r.gone {
			list = append(list, r)
		}
	}
	if r, ok := l.row(); list == nil && ok {
		list = []*Row{r}
	}
	return list
}

// stateOf returns the text of a row's state.
func stateOf(r *Row) string {
	switch {
	case r.gone:
		return "gone"
	case r.Refused:
		return "refused"
	case !r.Away.IsZero():
		return "unreachable"
	}
	return wording.State(r.Info)
}
