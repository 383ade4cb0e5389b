package authz

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestRolesAreOrderedAndReadBack(t *testing.T) {
	if !(NoRole < Observer && Observer < Operator && Operator < Admin) {
		t.Fatal("the roles are out of order")
	}
	for r := Observer; r <= Admin; r++ {
		if back, err := ParseRole(r.String()); err != nil || back != r {
			t.Errorf("%s read back as %s, %v", r, back, err)
		}
	}
	for _, bad := range []string{"", "none", "Admin", "root", "operator "} {
		if r, err := ParseRole(bad); err == nil || r != NoRole {
			t.Errorf("ParseRole(%q) = %v, %v; want an error", bad, r, err)
		}
	}
}

// A log in JSON, which is what a service writes, names roles as the configuration does.
func TestRoleInLog(t *testing.T) {
	var buf bytes.Buffer
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("login", "role", Operator)
	if !strings.Contains(buf.String(), `"role":"operator"`) {
		t.Errorf("the log has %s", buf.String())
	}
}
