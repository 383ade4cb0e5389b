//go:build linux && !laptop

package bench

import "context"

// Run measures program, a termhost, and what else is installed here. A server that fails is left
// out from there on, with a note. When ctx ends, Run ends the servers and returns ctx's cause.
func Run(ctx context.Context, program string, o Options) (*Report, error) {
	report := &Report{Caution: "One client in Go for all servers, on loopback, in turn in each " +
		"round. Machines differ and drift: only the ratios of one run mean something."}
	return o.run(ctx, program, report, effort.measurements)
}

// measurements returns what is measured, with files of its own in dir.
func (how effort) measurements(dir string) ([]measurement, error) {
	flood, err := floodText(dir, how.flood)
	if err != nil {
		return nil, err
	}
	history, err := floodText(dir, historySize)
	if err != nil {
		return nil, err
	}
	list := []measurement{
		how.memory(), how.idling(), how.echo(flood), how.observed(), how.drawn(),
		flooding(flood), how.login(history),
	}
	for _, c := range how.crowds {
		file, err := FloodFile(dir, c.size)
		if err != nil {
			return nil, err
		}
		list = append(list, fanOut(c.viewers, file))
	}
	return append(list, how.fleet(flood)), nil
}

// floodText returns the text of a [FloodFile].
func floodText(dir string, size int) (text, error) {
	file, err := FloodFile(dir, size)
	return text{"cat " + file, size / len(line) * len(line)}, err
}
