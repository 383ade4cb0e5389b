package verbs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"termhost/ahp"
	"termhost/ahp/host"
)

// watching is a viewer with the terminal; its JSON is an element of `who --json` without a NAME.
type watching struct {
	Host     string `json:"host,omitempty"` // "": there is one only
	Terminal string `json:"terminal"`       // its NAME
	host.Viewer

	raw json.RawMessage // what another host has answered, with its name; nil: it is this host's
}

// MarshalJSON keeps what a host of another version says beside it.
func (w watching) MarshalJSON() ([]byte, error) {
	if w.raw != nil {
		return w.raw, nil
	}
	type plain watching
	return json.Marshal(plain(w))
}

// whoAll lists who watches which of the terminals that the peer sees, in a fleet those of all
// hosts: host by host, the oldest terminal first.
func (v *invocation) whoAll(asJSON bool) int {
	own, err := v.watchedHere()
	if err != nil {
		return v.failed(err)
	}
	list, notes := v.watchedEverywhere(own)
	defer func() {
		for _, note := range notes {
			fmt.Fprintln(v.stderr, note)
		}
	}()
	switch {
	case asJSON:
		return v.printJSON(list)
	case len(list) == 0 && len(notes) > 0: // which say what nobody knows
		return StatusOK
	case len(list) == 0:
		fmt.Fprintln(v.stderr, "nobody watches any terminal")
		return StatusOK
	}
	rows := [][]string{append([]string{"TERMINAL"}, viewerColumns()...)}
	for _, w := range list {
		rows = append(rows, append([]string{w.Terminal}, viewerRow(w.Viewer)...))
	}
	if list[0].Host != "" {
		rows[0] = append([]string{"HOST"}, rows[0]...)
		for i, w := range list {
			rows[i+1] = append([]string{w.Host}, rows[i+1]...)
		}
	}
	writeTable(v.stdout, rows, v.Window().Cols)
	return StatusOK
}

// watchedHere returns who watches the terminals of this host.
func (v *invocation) watchedHere() ([]watching, error) {
	all, err := v.Conn.Watched()
	if err != nil {
		return nil, err
	}
	list := []watching{} // in JSON there is a list, an empty one too
	for _, w := range all {
		for _, viewer := range w.Viewers {
			list = append(list, watching{Terminal: w.Terminal.Name(), Viewer: viewer})
		}
	}
	return list, nil
}

// watchedEverywhere adds the viewers on the other hosts, in the hosts' order, with a note on each
// host that does not tell.
func (v *invocation) watchedEverywhere(own []watching) (list []watching, notes []string) {
	others, self := v.others(), v.self()
	if len(others) == 0 {
		return own, nil
	}
	for i := range own {
		own[i].Host = self
	}
	lists, complaints := make([][]watching, len(others)), make([]string, len(others))
	v.askEach(v.ctx, len(others), func(ctx context.Context, i int) {
		lists[i], complaints[i] = v.watchedOn(ctx, others[i])
	})
	at := slices.IndexFunc(others, func(h FleetHost) bool { return h.Name > self })
	if at < 0 {
		at = len(others)
	}
	lists = slices.Insert(lists, at, own)
	return append([]watching{}, slices.Concat(lists...)...),
		slices.DeleteFunc(complaints, func(text string) bool { return text == "" })
}

// watchedOn returns another host's viewers, or a note if it does not tell.
func (v *invocation) watchedOn(ctx context.Context, h FleetHost) (list []watching, note string) {
	if !h.Reachable {
		return nil, h.unreachable()
	}
	text, err := v.fleet().Output(ctx, v.Caller, h.Name, "who --json")
	if err != nil {
		return nil, v.complaint(h, err)
	}
	items, _ := elements(text) // none: there is no list
	for _, raw := range items {
		marked, ok := hosted(h.Name, raw)
		var w watching
		if !ok || json.Unmarshal(marked, &w) != nil || !ahp.ValidName(w.Terminal) {
			continue // of a version that this one does not understand
		}
		w.Host, w.raw = h.Name, marked
		list = append(list, w)
	}
	return list, ""
}
