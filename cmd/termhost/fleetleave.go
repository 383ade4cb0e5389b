//go:build linux && !laptop

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/bus/natslink"
)

// leaveTime bounds how long the fleet's home may take to take note.
const leaveTime = 5 * time.Second

// fleetLeave has this host leave its fleet.
func fleetLeave(c *call) int {
	fs := c.flags()
	file, end := fs.String("c", "", ""), fs.Bool("end", false, "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	folder, cfg, err := c.folder(*file)
	if err != nil {
		return c.failed(err)
	}
	m, err := folder.Membership()
	if err != nil {
		return c.failed(err)
	}
	removed := folder.Removed()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	err = fleet.Leave(ctx, fleet.LeaveOptions{Folder: folder, End: *end,
		Link: natslink.Options{Servers: cfg.Fleet.Servers,
			CredentialsFile: cfg.Fleet.Credentials, CAFile: cfg.Fleet.TLSCAFile,
			Log: slog.New(slog.DiscardHandler)}})
	switch {
	case errors.Is(err, fleet.ErrHome):
		return fail(c.std, exitFailure, err.Error(), "`termhost fleet leave --end` ends it")
	case errors.Is(err, fleet.ErrUntold):
		fmt.Fprintf(c.std.err, "termhost: %v; on the home, `termhost fleet remove %s` removes this"+
			" host from its list\n", err, m.Name)
	case err != nil:
		return c.failed(err)
	case removed:
		fmt.Fprintf(c.std.out, "%s was removed from the fleet, and has now forgotten it\n", m.Name)
		return exitOK
	}
	fmt.Fprintf(c.std.out,
		"%s has left the fleet; what it has open elsewhere ends within two seconds\n", m.Name)
	return exitOK
}
