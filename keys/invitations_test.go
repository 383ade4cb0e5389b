package keys

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func guestKeyFor(t *testing.T) ssh.PublicKey {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func someInvitation(now time.Time) Invitation {
	return Invitation{Role: RoleObserver, Terminals: []InvitedTerminal{{"build", now}}, Open: true,
		ByID: "uid:0", ByName: "uid:0", ByRole: RoleAdmin, Created: now, Expires: now.Add(time.Hour)}
}

func openInvitations(t *testing.T, dir string) *Invitations {
	t.Helper()
	in, err := OpenInvitations(TokenOptions{StateDir: dir, Rand: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestInvitationsSurviveARestartWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now().UTC()
	in := openInvitations(t, dir)
	secret, made, err := in.Invite(someInvitation(now), now)
	if err != nil || made.Guest != "guest-1" || len(made.ID) != 16 {
		t.Fatalf("%+v, %v", made, err)
	}
	key := guestKeyFor(t)
	if i, err := in.Verify(secret, key, false, now); err != nil || len(i.Keys) != 0 {
		t.Fatalf("a key that is only asked about is tied: %+v, %v", i, err)
	}
	if _, err := in.Verify(secret, key, true, now); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, invitationsName)
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), secret) {
		t.Errorf("the file has the secret: %s, %v", data, err)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v", st, err)
	}

	in = openInvitations(t, dir)
	if !in.Current(made.ID, publicLine(key, ""), now) {
		t.Error("the tied key is forgotten")
	}
	i, err := in.Verify(secret, key, true, now)
	if err != nil || !i.Terminals[0].Created.Equal(now) {
		t.Errorf("after a restart: %+v, %v", i, err)
	}
	for what, wrong := range map[string]string{
		"nothing": "", "a piece": secret[:20], "more": secret + "A", "another": strings.Repeat("A", 43),
	} {
		if _, err := in.Verify(wrong, key, true, now); !errors.Is(err, ErrBadInvite) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := in.Verify(secret, key, true, now.Add(time.Hour)); !errors.Is(err, ErrBadInvite) {
		t.Errorf("expired: %v", err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "observer", "admin", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenInvitations(TokenOptions{StateDir: dir, Rand: rand.Reader}); err == nil {
		t.Error("a guest that is an admin is read from the file")
	}
}

// Of two keys that are used concurrently, --once accepts one.
func TestAnInvitationForOnceTakesOneKey(t *testing.T) {
	t.Parallel()
	now := time.Now()
	in := openInvitations(t, t.TempDir())
	i := someInvitation(now)
	i.Once = true
	secret, _, err := in.Invite(i, now)
	if err != nil {
		t.Fatal(err)
	}
	const many = 8
	var wg sync.WaitGroup
	results := make(chan error, many)
	for range many {
		key := guestKeyFor(t)
		wg.Go(func() {
			_, err := in.Verify(secret, key, true, now)
			results <- err
		})
	}
	wg.Wait()
	close(results)
	let := 0
	for err := range results {
		if err == nil {
			let++
		}
	}
	if let != 1 || len(in.List(now)[0].Keys) != 1 {
		t.Errorf("%d keys got in, and %d are tied", let, len(in.List(now)[0].Keys))
	}
}

// The guest is kept out until a restart at least.
func TestRevokingTakesEffectThoughItCannotBeStored(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	in := openInvitations(t, dir)
	secret, made, err := in.Invite(someInvitation(now), now)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	changed := in.Changed()
	if err := in.Revoke(made.ID); err == nil || !strings.Contains(err.Error(), "come back") {
		t.Errorf("revoke: %v", err)
	}
	<-changed
	if _, err := in.Verify(secret, guestKeyFor(t), true, now); !errors.Is(err, ErrBadInvite) {
		t.Errorf("after that: %v", err)
	}
}

func TestInvitationsOfOneInviterAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Now()
	in := openInvitations(t, t.TempDir())
	for range MaxInvitesPerKey {
		if _, _, err := in.Invite(someInvitation(now), now); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := in.Invite(someInvitation(now), now); !errors.Is(err, ErrTooManyInvites) {
		t.Errorf("one more of the same inviter: %v", err)
	}
	i := someInvitation(now)
	i.ByID = "uid:1"
	if _, _, err := in.Invite(i, now); err != nil {
		t.Errorf("another inviter's: %v", err)
	}
}

func TestInvitationsWithSomethingBehindThemAreRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, invitationsName)
	for behind, ok := range map[string]bool{"": true, "\n": true, "garbage": false, "{}": false,
		"\x00": false} {
		text := `{"version":1,"invitations":[]}` + behind
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenInvitations(TokenOptions{StateDir: dir, Rand: rand.Reader})
		if (err == nil) != ok {
			t.Errorf("with %q behind it: %v", behind, err)
		}
	}
}
