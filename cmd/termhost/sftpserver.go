//go:build linux && !laptop

package main

import (
	"os"

	"termhost/sshd/files"
)

// sftpServer serves files on standard input and output.
func sftpServer(c *call) int {
	if code, ok := c.parse(c.flags(), 0); !ok {
		return code
	}
	if err := files.Serve(os.Stdin, os.Stdout); err != nil {
		return fail(c.std, exitFailure, err.Error(), "")
	}
	return exitOK
}
