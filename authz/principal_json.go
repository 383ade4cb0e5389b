package authz

import (
	"bytes"
	"encoding/json"
)

// storedPrincipal is a Principal on disk: its role is there by name.
type storedPrincipal struct {
	principalFields
	Role string `json:"role"` // hides that of principalFields
}

// principalFields are a Principal without its methods.
type principalFields Principal

// MarshalJSON returns what [Principal.UnmarshalJSON] reads.
func (p Principal) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedPrincipal{principalFields(p), p.Role.String()})
}

// UnmarshalJSON reads a principal that this or another version has stored. One with a role or a
// field that this version does not know has NoRole, and may do nothing: the field may restrict it.
func (p *Principal) UnmarshalJSON(text []byte) error {
	var stored storedPrincipal
	if err := json.Unmarshal(text, &stored); err != nil {
		return err
	}
	*p = Principal(stored.principalFields)
	p.Role, _ = ParseRole(stored.Role)
	known := json.NewDecoder(bytes.NewReader(text))
	known.DisallowUnknownFields()
	if known.Decode(&stored) != nil {
		p.Role = NoRole
	}
	return nil
}
