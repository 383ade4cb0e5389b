package host

import "termhost/ptypool/cgroup"

// Usage is what the programs of a terminal use, with all that they have started.
type Usage struct {
	CPU    float64 `json:"cpu"`              // seconds, of all that have run there
	Memory int64   `json:"memory,omitempty"` // bytes, with cached files; 0: nobody accounts for it
}

// Usage returns what the programs of the terminal of a URI use; nil: that is not accounted for each
// terminal (see package cgroup), or its first program has ended.
func (c *Conn) Usage(uri string) *Usage {
	t := c.host.lookup(uri)
	if t == nil || t.term.Pid() == 0 {
		return nil
	}
	u, ok := cgroup.UsageOf(t.term.Pid())
	if !ok {
		return nil
	}
	return &Usage{CPU: u.CPU.Seconds(), Memory: u.Memory}
}
