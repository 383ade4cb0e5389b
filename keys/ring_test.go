package keys

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// never is an interval that does not end during a test, which calls Reload itself.
const never = 24 * time.Hour

func open(t *testing.T, o Options) *Ring {
	t.Helper()
	if o.Interval == 0 {
		o.Interval = never
	}
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// keyring is a Ring over one authorized_keys file with alice's key in it.
func keyring(t *testing.T) (r *Ring, file string, alice testKey) {
	t.Helper()
	homeDir, _, file := tree(t)
	alice = testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n")
	return open(t, Options{AuthorizedKeysFiles: []string{file}, Home: homeDir}), file, alice
}

func TestOnlyTheAuthorisedKeyIsAccepted(t *testing.T) {
	r, _, alice := keyring(t)
	id, err := r.Authenticate("root", alice, local(), testNow)
	if err != nil {
		t.Fatal(err)
	}
	if id.Comment != "alice" || id.Role != "" || id.User != "root" ||
		!IsFingerprint(id.Fingerprint) {
		t.Errorf("identity %+v", id)
	}
	// A key that differs from alice's in one bit, and a new one.
	blob := bytes.Clone(alice.Marshal())
	blob[len(blob)-1] ^= 1
	similar := parse(t, blob)
	for _, other := range []testKey{{similar}, {newKey(t).PublicKey()}} {
		if err := try(r, "root", other); !errors.Is(err, ErrUnknownKey) {
			t.Errorf("another key: %v", err)
		}
	}
}

func TestFromAndExpiryOfALineApply(t *testing.T) {
	r, file, alice := keyring(t)
	write(t, file, alice.line(`from="10.0.0.0/8",expiry-time="20260315Z"`)+"\n")
	r.Reload()
	id, err := r.Authenticate("a", alice, from("10.1.2.3"), testNow)
	end := time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
	if err != nil || id.From != "10.0.0.0/8" || !id.Expires.Equal(end) {
		t.Errorf("got %+v, %v", id, err)
	}
	for name, attempt := range map[string]func() (Identity, error){
		"another address": func() (Identity, error) {
			return r.Authenticate("a", alice, local(), testNow)
		},
		"no address": func() (Identity, error) {
			return r.Authenticate("a", alice, nil, testNow)
		},
		"too late": func() (Identity, error) {
			return r.Authenticate("a", alice, from("10.1.2.3"), id.Expires)
		},
		"still, too late": func() (Identity, error) {
			return r.Still(id, id.Expires)
		},
		"a token's bearer elsewhere": func() (Identity, error) {
			return r.StillFrom(id, local(), testNow)
		},
	} {
		var refusal *RefusedError
		if _, err := attempt(); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.StillAnywhere(id, testNow); err != nil {
		t.Errorf("anywhere: %v", err)
	}
}

// As in sshd, the first line that permits decides. But a line that cannot be honoured refuses its
// key wherever else it stands.
func TestTheFirstLineThatPermitsAKeyDecides(t *testing.T) {
	r, file, alice := keyring(t)
	lines := []string{alice.line(`from="10.0.0.0/8"`), alice.line("no-pty"), alice.line("")}
	write(t, file, strings.Join(lines, "\n"))
	r.Reload()
	if id, err := r.Authenticate("a", alice, from("10.1.1.1"), testNow); err != nil || id.ReadOnly {
		t.Errorf("from the first line's address: %+v, %v", id, err)
	}
	if id, err := r.Authenticate("a", alice, local(), testNow); err != nil || !id.ReadOnly {
		t.Errorf("from elsewhere: %+v, %v; want the second line", id, err)
	}
	write(t, file, alice.line("")+"\n"+alice.line("frobnicate")+"\n")
	r.Reload()
	var refusal *RefusedError
	if err := try(r, "a", alice); !errors.As(err, &refusal) || !says(err, "frobnicate") {
		t.Errorf("a key with an unknown option: %v", err)
	}
}

func TestChangesApplyToAcceptedIdentities(t *testing.T) {
	r, file, alice := keyring(t)
	id, err := r.Authenticate("a", alice, local(), testNow)
	if err != nil {
		t.Fatal(err)
	}
	changed := r.Changed()
	r.Reload()
	select {
	case <-changed:
		t.Error("a change is reported though nothing changed")
	default:
	}
	write(t, file, alice.line("no-pty")+"\n")
	r.Reload()
	select {
	case <-changed:
	default:
		t.Error("the change is not reported")
	}
	if now, err := r.Still(id, testNow); err != nil || !now.ReadOnly {
		t.Errorf("after the change: %+v, %v", now, err)
	}
	bob := testKey{newKey(t).PublicKey()}
	write(t, file, bob.line("")+"\n")
	r.Reload()
	if _, err := r.Still(id, testNow); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("after the removal: %v", err)
	}
	write(t, file, alice.line("")+"\n")
	r.Reload()
	if _, err := r.Still(id, testNow); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

// The last keys of admins stay in force even while others could log in. A file that has lost all
// keys was more often emptied by mistake than on purpose.
func TestTheLastKeysOfAdminsStayInForce(t *testing.T) {
	homeDir, _, file := tree(t)
	alice, bob := testKey{newKey(t).PublicKey()}, testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n")
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, Home: homeDir, Lines: []string{bob.line("")},
		Leads: func(id Identity) bool { return id.Fingerprint == ssh.FingerprintSHA256(alice.PublicKey) }})
	write(t, file, "")
	r.Reload()
	if err := try(r, "a", alice); err != nil {
		t.Errorf("no admin can log in any more: %v", err)
	}
	write(t, file, bob.line("")+"\n")
	r.Reload()
	if err := try(r, "a", alice); err == nil {
		t.Error("a key stays in force that was replaced")
	}
}

func TestTheLastKeysStayInForce(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	second := filepath.Join(sshDir, "second")
	alice, bob := testKey{newKey(t).PublicKey()}, testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n")
	write(t, second, bob.line("")+"\n")
	var log lockedBuffer
	r := open(t, Options{AuthorizedKeysFiles: []string{file, second}, Home: homeDir,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	expect := func(when string, key testKey, in bool) {
		t.Helper()
		if err := try(r, "a", key); (err == nil) != in {
			t.Errorf("%s: %v", when, err)
		}
	}
	write(t, second, "")
	r.Reload()
	expect("bob's key is removed, one of several", bob, false)
	if !strings.Contains(log.String(), "WARN msg=\"key file read again; it has no keys\"") {
		t.Errorf("the log says %s", log.String())
	}
	for _, spoil := range []func(){
		func() { write(t, file, "") }, func() { write(t, file, "ssh-ed25519 half\n") },
		func() { _ = os.Remove(file) },
	} {
		log.Reset()
		changed := r.Changed()
		spoil()
		for range 3 {
			r.Reload()
		}
		select {
		case <-changed:
			t.Error("all connections are checked again")
		default:
		}
		expect("the last key is removed", alice, true)
		if n := strings.Count(log.String(), "level=WARN"); n != 1 ||
			!strings.Contains(log.String(), "stop the host") {
			t.Errorf("the log warns %d times: %s", n, log.String())
		}
		write(t, file, alice.line("")+"\n")
		r.Reload()
	}
	write(t, file, "")
	r.Reload()
	if err := r.SetLines([]string{bob.line("")}); err != nil {
		t.Fatal(err)
	}
	expect("the configuration adds bob", bob, true)
	r.Reload()
	expect("alice is not the last any more", alice, false)
	if err := r.SetLines(nil); err != nil {
		t.Fatal(err)
	}
	if !r.Empty() {
		t.Error("the ring is not empty")
	}
}

// The last keys of an emptied file stay in force with a new list of files, if that file is on it.
func TestTheLastKeysStayInForceWhenTheListOfFilesChanges(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	second := filepath.Join(sshDir, "second")
	alice, bob := testKey{newKey(t).PublicKey()}, testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n")
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, Home: homeDir})
	set := func(files ...string) {
		t.Helper()
		if err := r.SetFiles(Options{AuthorizedKeysFiles: files}); err != nil {
			t.Fatal(err)
		}
	}
	write(t, file, "")
	r.Reload()
	for range 2 {
		set(file, second)
		r.Reload()
		if err := try(r, "a", alice); err != nil {
			t.Fatalf("alice's key is forgotten: %v", err)
		}
	}
	write(t, second, bob.line("")+"\n")
	set(second, file)
	if err := try(r, "a", alice); err == nil || try(r, "a", bob) != nil {
		t.Error("alice's key is not the last, and stays in force")
	}
	write(t, second, "")
	set(file)
	if !r.Empty() {
		t.Error("the keys of a file stay in force that is not on the list")
	}
}

// The edits keep the size and the inode, and come so soon that the times are the same: stat(2)
// shows no change.
func TestEditsWithinTheClocksResolutionAreSeen(t *testing.T) {
	r, file, alice := keyring(t)
	pair := [2]testKey{alice, {newKey(t).PublicKey()}}
	for i := range 200 {
		in, out := pair[i%2], pair[(i+1)%2]
		write(t, file, in.line("")+"\n")
		r.Reload()
		if err := try(r, "a", in); err != nil {
			t.Fatalf("edit %d, the new key: %v", i, err)
		}
		// Authenticate would wait until nobody writes the file any more.
		_, err := r.Still(Identity{Key: publicLine(out, "")}, testNow)
		if !errors.Is(err, ErrUnknownKey) {
			t.Fatalf("edit %d, the old key: %v", i, err)
		}
	}
	// Where the clock tells the edits apart, this proves little. So: the stamp of a file that
	// has just changed does not count.
	if seen := r.files[0].seen; seen != "" {
		t.Errorf("a file changed just now would be skipped at the next look: %s", seen)
	}
}

func TestAKeyThatWasJustAddedIsAccepted(t *testing.T) {
	homeDir, _, file := tree(t)
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, Home: homeDir,
		Interval: time.Hour})
	for _, name := range []string{"in a new file", "behind others"} {
		alice := testKey{newKey(t).PublicKey()}
		if err := try(r, "a", alice); !errors.Is(err, ErrUnknownKey) {
			t.Errorf("before it is %s: %v", name, err)
		}
		old, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		write(t, file, string(old)+alice.line("")+"\n")
		if err := try(r, "a", alice); err != nil {
			t.Errorf("when it is %s: %v", name, err)
		}
	}
}

func TestChangedFilesAreReadAgain(t *testing.T) {
	homeDir, _, file := tree(t)
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, Home: homeDir,
		Interval: time.Millisecond})
	changed := r.Changed()
	alice := testKey{newKey(t).PublicKey()}
	temp := file + ".new"
	write(t, temp, alice.line("")+"\n")
	if err := os.Rename(temp, file); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	case <-time.After(90 * time.Second):
		t.Fatal("no change was noticed")
	}
	if err := try(r, "a", alice); err != nil {
		t.Error(err)
	}
}

// A script that writes a file anew empties it first.
func TestAFileThatIsBeingWrittenIsNotReadYet(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	second := filepath.Join(sshDir, "second")
	alice, bob := testKey{newKey(t).PublicKey()}, testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n")
	write(t, second, bob.line("")+"\n")
	r := open(t, Options{AuthorizedKeysFiles: []string{file, second}, Home: homeDir})
	ended, end := context.WithCancel(t.Context())
	end()
	for _, spoil := range []func(){func() { write(t, file, "") }, func() { _ = os.Remove(file) }} {
		spoil()
		r.reloadAtRest(ended, time.Hour) // which it waits for
		if err := try(r, "a", alice); err != nil {
			t.Errorf("while it is written: %v", err)
		}
	}
	r.ReloadAtRest()
	if err := try(r, "a", alice); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("at rest: %v", err)
	}
}

func TestAFileThatChangesConstantlyIsStillRead(t *testing.T) {
	r, file, alice := keyring(t)
	bob := testKey{newKey(t).PublicKey()}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(file, []byte(bob.line("")+"\n"), 0o600) // see below
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for try(r, "a", alice) == nil { // a reading may find it empty
		r.reloadAtRest(t.Context(), 20*time.Millisecond)
	}
}

func TestAFileThatBecomesUnsafeLosesItsKeys(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	alice := testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n")
	var log lockedBuffer
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, Home: homeDir,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, path := range []string{file, sshDir, homeDir} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		log.Reset()
		chmod(t, path, info.Mode()|0o020)
		for range 3 {
			r.Reload()
		}
		if err := try(r, "a", alice); !errors.Is(err, ErrWithdrawn) {
			t.Errorf("%s writable: %v", path, err)
		}
		if n := strings.Count(log.String(), "withdrawn"); n != 1 {
			t.Errorf("logged %d times, want once:\n%s", n, log.String())
		}
		chmod(t, path, info.Mode())
		r.Reload()
		if err := try(r, "a", alice); err != nil {
			t.Errorf("%s tight again: %v", path, err)
		}
	}
}

func TestOpenRefusesWhatItCannotTrust(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	absent := filepath.Join(sshDir, "absent")
	o := Options{AuthorizedKeysFiles: []string{absent}, Home: homeDir, Interval: never}
	if r, err := Open(o); err != nil {
		t.Errorf("an authorized_keys file may be missing: %v", err)
	} else {
		r.Close()
	}
	for name, o := range map[string]Options{
		"missing authority file": {TrustedUserCAFiles: []string{absent}},
		"missing revocations":    {RevokedKeysFile: absent},
		"unknown option":         {Lines: []string{"frobnicate " + read(t, file)}},
	} {
		o.Home, o.Interval = homeDir, never
		if r, err := Open(o); err == nil {
			r.Close()
			t.Errorf("%s: accepted", name)
		}
	}
	chmod(t, file, 0o666)
	_, err := Open(Options{AuthorizedKeysFiles: []string{file}, Home: homeDir, Interval: never})
	wantRefused(t, err, file, "mode 0666", "chmod go-w")
}

func TestConfiguredLinesAreAuthorised(t *testing.T) {
	alice := testKey{newKey(t).PublicKey()}
	r := open(t, Options{Lines: []string{alice.line("no-pty")}})
	if id, err := r.Authenticate("a", alice, local(), testNow); err != nil || !id.ReadOnly {
		t.Errorf("got %+v, %v", id, err)
	}
}

func TestRevokedKeysAreRefused(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	alice, bob := testKey{newKey(t).PublicKey()}, testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n"+bob.line("")+"\n")
	list := filepath.Join(sshDir, "revoked")
	write(t, list, "# none\n")
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, RevokedKeysFile: list, Home: homeDir})
	if err := try(r, "a", alice); err != nil {
		t.Fatal(err)
	}
	aliceID, _ := r.Authenticate("a", alice, local(), testNow)
	for _, text := range []string{alice.line(""), aliceID.Fingerprint + " lost laptop"} {
		write(t, list, text+"\n")
		r.Reload()
		var refusal *RefusedError
		if err := try(r, "a", alice); !errors.As(err, &refusal) || !says(err, "revoked") {
			t.Errorf("%s: %v", text, err)
		}
		if err := try(r, "a", bob); err != nil {
			t.Errorf("bob: %v", err)
		}
	}
	// A list that cannot be read may revoke any key, so no key is accepted.
	keygen(t, sshDir, "-q", "-k", "-f", "krl", file)
	for name, text := range map[string]string{
		"a binary KRL":     read(t, filepath.Join(sshDir, "krl")),
		"an unknown line":  "serial: 7\n",
		"a damaged key":    "ssh-ed25519 AAAA\n",
		"no SHA256 digest": "SHA256:abc\n",
	} {
		write(t, list, text)
		r.Reload()
		if err := try(r, "a", bob); !errors.Is(err, ErrWithdrawn) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, list, "")
	r.Reload()
	if err := try(r, "a", alice); err != nil {
		t.Errorf("after the list was mended: %v", err)
	}
}

// lockedBuffer collects log records from several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lockedBuffer) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}
