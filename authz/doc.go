// Package authz decides permissions: a principal, a verb and the facts about a target go in, nil or
// a *Denied that names the rule comes out.
//
// Three parts build on each other. [Check] is the policy: three small tables
// and a pure function without clock, lock or I/O. [Directory] turns a verified
// key or token into a [Principal] by the [[principal]] entries of the
// configuration. [Authority] joins the Directory with the key ring and the
// token store of package keys: a door authenticates with one call, gets a
// [Grant], and is told when the Grant is over ([Authority.Track]).
//
// A door is a way into the host: SSH, the WebSocket, the unix socket.
//
// Everything fails closed: the zero Principal, the zero Verb and an unknown
// executor are denied.
//
// The roles keep honest clients out of each other's way. Whoever may create a
// server-executed terminal runs code as the host's user, so admin and operator
// are no sandbox; only observer is a boundary.
package authz
