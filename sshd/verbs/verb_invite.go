package verbs

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"termhost/ahp/host"
	"termhost/authz"
	"termhost/keys"
)

// inviteFlags are the flags of `invite`.
type inviteFlags struct {
	authz.InviteRequest
	role      string
	terminals []string
	github    string
	key       string // a file of this host; "-": standard input
	revoke    string
	page      bool   // for a guest with a browser
	url       string // where it finds the page
}

// defineInvite invites a guest without a key here to some terminals, or ends that. It prints the
// ssh line for the guest, or the link to the page, alone, on stdout.
func defineInvite(fs *flag.FlagSet) func(*invocation) int {
	var f inviteFlags
	more := func(name string) error {
		f.terminals = append(f.terminals, strings.Split(name, ",")...)
		return nil
	}
	fs.Func("terminal", "let the guest see the terminal `NAME`; more with commas, or the flag"+
		" again", more)
	fs.StringVar(&f.role, "role", "", "the guest's `ROLE`: observer, or operator, who may type"+
		" when it is given the keyboard; at most yours")
	durationFlag(fs, &f.TTL, "ttl", "how long it lasts, `D`: 1h unless asked otherwise")
	fs.BoolVar(&f.Once, "once", false, "for one key only, the first that is used")
	fs.StringVar(&f.github, "github", "", "only for the keys of `USER` at github.com")
	fs.StringVar(&f.key, "key", "",
		"only for the public keys in `FILE` of the host; -: standard input")
	fs.BoolVar(&f.page, "page", false, "print a link to the page, for a guest without ssh")
	fs.StringVar(&f.url, "url", "", "with --page, where the guest's browser finds it, `URL`")
	fs.StringVar(&f.revoke, "revoke", "", "end the invitation of `GUEST`, and its connections")
	return func(v *invocation) int { return v.invite(f) }
}

func (v *invocation) invite(f inviteFlags) int {
	if given(v.fs, "revoke") {
		if v.fs.NFlag() > 1 || len(v.args) > 0 {
			return v.misused("--revoke stands alone")
		}
		guest, _ := host.GuestName(f.revoke)
		if err := v.Conn.Uninvite(guest); err != nil {
			return v.failed(err)
		}
		return StatusOK
	}
	if problem := f.problem(v.fs); problem != "" {
		return v.misused("%s", problem)
	}
	var page *url.URL
	var err error
	if f.terminals, err = v.ownNames(f.terminals); err != nil {
		return v.failed(err)
	}
	if f.page {
		if page, err = v.Conn.PageAddress(f.url); err != nil {
			return v.failed(err)
		}
	}
	if f.role != "" {
		if f.Role, err = authz.ParseRole(f.role); err != nil {
			return v.misused("%s", v.explain(err))
		}
	}
	// The policy is checked before anything is fetched or read for somebody who may not invite.
	if _, err := v.Conn.Invitations(); err != nil {
		return v.failed(err)
	}
	if f.Keys, err = v.guestKeys(f); err != nil {
		return v.failed(err)
	}
	if len(v.args) > 0 {
		f.Guest, _ = host.GuestName(v.args[0])
		if f.Guest == "" {
			return v.failed(keys.ErrGuestName)
		}
	}
	secret, made, err := v.Conn.Invite(v.Grant, f.InviteRequest, f.terminals)
	if err != nil {
		return v.failed(err)
	}
	v.tellInvited(secret, made, page)
	return StatusOK
}

// problem returns what is wrong with the flags of an invitation; "": nothing.
func (f *inviteFlags) problem(fs *flag.FlagSet) string {
	switch {
	case len(f.terminals) == 0:
		return "say what the guest sees: --terminal NAME"
	case given(fs, "ttl") && f.TTL <= 0:
		return "--ttl must be positive"
	case given(fs, "github") && given(fs, "key"):
		return "--github and --key exclude each other"
	case f.Once && (given(fs, "github") || given(fs, "key")):
		return "--once is for any key; --github and --key name theirs"
	case f.page && (given(fs, "github") || given(fs, "key")):
		return "--page is for a browser's key; --github and --key name others"
	case !f.page && given(fs, "url"):
		return "--url is for --page"
	}
	return ""
}

// maxKeyFile bounds what is read of a file or of standard input for --key, in bytes.
const maxKeyFile = 64 << 10

// guestKeys returns the keys that the guest may use; nil: any.
func (v *invocation) guestKeys(f inviteFlags) ([]string, error) {
	var from io.Reader
	switch {
	case given(v.fs, "github"):
		return v.GitHub.Keys(v.ctx, f.github)
	case !given(v.fs, "key"):
		return nil, nil
	case f.key == "-":
		from = v.Stdin()
	default:
		file, err := openKeyFile(v.folder(f.key))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxKeyFile))
	if err != nil {
		return nil, errors.New("the key cannot be read")
	}
	lines, err := keys.ParseGuestKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("no key for the guest: %s", v.explain(err))
	}
	return lines, nil
}

// openKeyFile opens a file of the host. A relative path, and one that begins with ~/, is below the
// home folder.
func openKeyFile(path string) (*os.File, error) {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = rest
	}
	if !filepath.IsAbs(path) && err == nil {
		path = filepath.Join(home, path)
	}
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() { // a FIFO would wait for ever
		return nil, errors.New("--key: there is no such file on the host")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, errors.New("--key: the file cannot be read by the host")
	}
	return file, nil
}

// tellInvited prints the guest's ssh line, or the link to the page at an address, and on stderr
// what it permits.
func (v *invocation) tellInvited(secret string, i keys.Invitation, page *url.URL) {
	hostname, port := v.address()
	who := "any key; each is tied to it at its first use"
	if page != nil {
		fmt.Fprintln(v.stdout, v.Conn.GuestPage(page, secret, terminalNames(i)))
		hostname, who = page.Hostname(), "any browser; each is tied to it at its first use"
	} else {
		fmt.Fprintf(v.stdout, "ssh -p %s %s%s@%s\n", port, keys.InvitePrefix, secret, hostname)
	}
	switch {
	case i.Once && page != nil:
		who = "one browser, the first that is used"
	case i.Once:
		who = "one key, the first that is used"
	case !i.Open:
		who = "the keys that you named"
	}
	_, guest := host.GuestName(i.Guest)
	fmt.Fprintf(v.stderr, "%s: %s of %s, until %s, with %s\n", guest, i.Role,
		strings.Join(terminalNames(i), " "), i.Expires.Format(time.RFC3339), who)
	ip, err := netip.ParseAddr(hostname)
	here := err == nil && ip.IsLoopback()
	switch {
	case page == nil:
		v.tellHostKey(hostname, port)
		if here {
			fmt.Fprintln(v.stderr,
				"hint: elsewhere, the name of this host has to stand behind the @")
		}
	case here || hostname == "localhost":
		fmt.Fprintln(v.stderr, "hint: the link is for this machine; elsewhere the guest needs an "+
			"address that a proxy serves: --url https://HOST/")
	}
	fmt.Fprintln(v.stderr, v.told("hint: `ssh HOST invite --revoke "+guest+"` ends it"))
}

// tellHostKey prints the host key's fingerprint, which the guest compares at the first login, and
// its line for ~/.ssh/known_hosts.
func (v *invocation) tellHostKey(hostname, port string) {
	if v.HostKey == nil {
		return
	}
	fingerprint, line := v.HostKey(net.JoinHostPort(hostname, port))
	fmt.Fprintf(v.stderr, "host key: %s\n", fingerprint)
	if line != "" {
		fmt.Fprintf(v.stderr, "known_hosts: %s\n", line)
	}
}

// address returns the address at which the peer has reached this host, or at which the host
// listens.
func (v *invocation) address() (hostname, port string) {
	if ends := strings.Fields(v.Endpoints); len(ends) == 4 {
		return ends[2], ends[3]
	}
	hostname, port = "HOST", "22"
	if v.Address == nil {
		return hostname, port
	}
	if h, p, err := net.SplitHostPort(v.Address()); err == nil {
		hostname, port = h, p
	}
	if ip, err := netip.ParseAddr(hostname); err == nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			hostname = name
		}
	}
	return hostname, port
}

func terminalNames(i keys.Invitation) []string {
	names := []string{}
	for _, t := range i.Terminals {
		names = append(names, t.Name)
	}
	return names
}

// defineInvites lists the invitations that the peer may end.
func defineInvites(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON array")
	return func(v *invocation) int { return v.invites(*asJSON) }
}

// inviteInfo is an element of `invites --json`.
type inviteInfo struct {
	Guest     string    `json:"guest"`
	Role      string    `json:"role"`
	Terminals []string  `json:"terminals"`
	Expires   time.Time `json:"expires"`
	Keys      int       `json:"keys"` // bound to it
	Once      bool      `json:"once"`
	By        string    `json:"by"`
}

func (v *invocation) invites(asJSON bool) int {
	list, err := v.Conn.Invitations()
	if err != nil {
		return v.failed(err)
	}
	infos := []inviteInfo{}
	rows := [][]string{{"GUEST", "ROLE", "TERMINALS", "EXPIRES", "KEYS", "BY"}}
	for _, i := range list {
		_, guest := host.GuestName(i.Guest)
		infos = append(infos, inviteInfo{guest, i.Role, terminalNames(i), i.Expires, len(i.Keys),
			i.Once, i.ByName})
		terminals := cmp.Or(strings.Join(terminalNames(i), " "), "-")
		rows = append(rows, []string{guest, i.Role, terminals,
			i.Expires.Format(time.RFC3339), strconv.Itoa(len(i.Keys)), i.ByName})
	}
	switch {
	case asJSON:
		return v.printJSON(infos)
	case len(list) == 0:
		const hint = "no invitations; `ssh HOST invite --terminal NAME` makes one"
		fmt.Fprintln(v.stderr, v.told(hint))
		return StatusOK
	}
	writeTable(v.stdout, rows, v.Window().Cols)
	return StatusOK
}
