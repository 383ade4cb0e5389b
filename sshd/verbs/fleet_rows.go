package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"termhost/ahp/commandline"
	"termhost/sshd/viewer"
)

// fleetRows are the terminals of the other hosts, for a list that is live.
type fleetRows struct {
	v       *invocation
	follows followed
}

// A fleetRows is the viewer's others.
var _ viewer.Others = (*fleetRows)(nil)

// otherRows returns the terminals of the other hosts; nil: there are none.
func (v *invocation) otherRows() viewer.Others {
	if len(v.others()) == 0 {
		return nil
	}
	return &fleetRows{v, v.followed()}
}

// Self implements viewer.Others.
func (f *fleetRows) Self() string { return f.v.self() }

// Rows implements viewer.Others.
func (f *fleetRows) Rows() (rows []*viewer.Row, notes []string) {
	return f.v.following.of(f.follows).rows()
}

// Follow implements viewer.Others.
func (f *fleetRows) Follow(ctx context.Context, news func()) {
	f.v.follow(ctx, &follower{life: listLife, news: news})
}

var errGoneThere = errors.New("it has gone")

// Now implements viewer.Others.
func (f *fleetRows) Now(ctx context.Context, r *viewer.Row) (*viewer.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	for _, h := range f.v.others() {
		if h.Name != r.Host {
			continue
		}
		if !h.Reachable {
			return r, errors.New(h.unreachable())
		}
		list, note := f.v.listOf(ctx, h)
		if note != "" {
			return r, errors.New(note)
		}
		for _, i := range list {
			if i.URI == r.URI && i.CreatedAt.Equal(r.CreatedAt) {
				return &viewer.Row{Info: i.Info, Host: h.Name, Elsewhere: true}, nil
			}
		}
		return r, errGoneThere
	}
	return r, fmt.Errorf("%s is no longer in this fleet", r.Host)
}

// actTime bounds how long a host may take for what a key asks of it.
const actTime = 15 * time.Second

// Do implements viewer.Others.
func (f *fleetRows) Do(ctx context.Context, r *viewer.Row, words ...string) ([]byte, error) {
	reads := words[0] == "peek" || words[0] == "asks"
	if !reads {
		if _, err := f.Now(ctx, r); err != nil {
			return nil, err
		}
	}
	var line []string
	for i, w := range words {
		if w == "--" { // what follows is verbatim
			line = append(line, words[i:]...)
			break
		}
		line = append(line, commandline.Quote(w))
	}
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	out, err := f.v.fleet().Output(ctx, f.v.Caller, r.Host, strings.Join(line, " "))
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return out, errors.New(strings.TrimPrefix(text, "termhost: error: "))
	}
	return bytes.TrimRight(out, "\n"), nil
}
