package service

import (
	"net"
	"os"
	"strings"
)

// NotifyReady tells the service manager, if it has asked for that, that this process accepts
// connections (sd_notify(3)). Programs that this process starts do not learn the manager's address.
func NotifyReady() error {
	const variable = "NOTIFY_SOCKET"
	name := os.Getenv(variable)
	if name == "" {
		return nil
	}
	if err := os.Unsetenv(variable); err != nil {
		return err
	}
	if strings.HasPrefix(name, "@") { // one without a file
		name = "\x00" + name[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("READY=1"))
	return err
}
