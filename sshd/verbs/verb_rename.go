package verbs

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// defineRename gives a terminal another NAME.
func defineRename(*flag.FlagSet) func(*invocation) int { return (*invocation).rename }

// renamedThere takes the host's name from the new NAME of a rename, which must be the one that the
// terminal is on.
func (v *invocation) renamedThere(places []place) error {
	at := v.operands()
	if v.verb.name != "rename" || len(at) != 2 {
		return nil
	}
	is, given := cmp.Or(places[0].host, v.self()), v.words[at[1]]
	on, name, both := strings.Cut(given, "/")
	hosts := v.fleet().Hosts()
	switch {
	case !both:
		return nil
	case !slices.ContainsFunc(hosts, func(h FleetHost) bool { return h.Name == on }):
		return NoHost(on, hosts)
	case on != is:
		return fmt.Errorf("a terminal stays on its host: %s/%s cannot be called %s", is,
			places[0].names[at[0]], given)
	}
	places[0].names[at[1]] = name
	return nil
}

func (v *invocation) rename() int {
	t, err := v.find(v.args[0])
	if err != nil {
		return v.failed(err)
	}
	was, err := v.Conn.GiveName(t, v.args[1])
	if err != nil {
		return v.failed(err)
	}
	if was == t.Name() {
		fmt.Fprintf(v.stderr, "termhost: it is already called %s\n", v.shown(was))
		return StatusOK
	}
	fmt.Fprintf(v.stderr, "termhost: %s is now called %s\n", v.shown(was), v.shown(t.Name()))
	return StatusOK
}
