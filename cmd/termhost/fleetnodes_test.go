package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"termhost/ahp/hosttest"
)

// natsNodes is how many servers the manual's cluster has.
const natsNodes = 3

// natsCluster is a NATS cluster that is set up as the manual says, from the text of the manual. Each
// of its servers is a process.
type natsCluster struct {
	t       testing.TB
	dir     string // in place of /etc/nats and /etc/termhost
	text    string // of the manual's section
	account nkeys.KeyPair
	ips     [natsNodes]string
	nodes   [natsNodes]*exec.Cmd
}

// newNATSCluster starts a cluster.
func newNATSCluster(t testing.TB) *natsCluster {
	t.Helper()
	manual := fileText(t, "man/fleet.md")
	_, text, ok := strings.Cut(manual, "\n## On a NATS cluster\n")
	if !ok {
		t.Fatal("the manual says nothing of NATS clusters")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	n := &natsCluster{t: t, dir: hosttest.Dir(t), text: text}
	for i := range n.ips {
		n.ips[i], _, _ = net.SplitHostPort(loopback())
	}
	n.certify()
	n.authorise()
	for i := range n.nodes {
		config := n.placed(n.block("server_name: n1"))
		if i > 0 { // that of n1 stands for all
			name := fmt.Sprint("n", i+1)
			config = strings.NewReplacer(`"`+n.ips[0]+":", `"`+n.ips[i]+":", "n1.", name+".",
				"server_name: n1", "server_name: "+name).Replace(config)
		}
		writeFile(t, filepath.Join(n.dir, fmt.Sprintf("n%d.conf", i+1)), config)
	}
	for i := range n.nodes {
		n.start(i)
	}
	return n
}

// block returns the indented lines of the manual from the one on that begins so.
func (n *natsCluster) block(begin string) string {
	n.t.Helper()
	at := strings.Index(n.text, "\n    "+begin)
	if at < 0 {
		n.t.Fatalf("the manual has no %q", begin)
	}
	text, _, _ := strings.Cut(n.text[at+1:], "\n\n")
	return strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\n    ", "\n"), "\n") + "\n"
}

// placed puts the addresses and the folder of the test in the manual's text.
func (n *natsCluster) placed(text string) string {
	for i, ip := range n.ips {
		text = strings.ReplaceAll(text, fmt.Sprintf("n%d.example", i+1), ip)
	}
	return strings.NewReplacer("/etc/nats/", n.dir+"/", "/etc/termhost/", n.dir+"/").Replace(text)
}

// fleet returns the configuration of a host, which first connects to the server i.
func (n *natsCluster) fleet(name string, i int) string {
	n.t.Helper()
	text := strings.ReplaceAll(n.block("[fleet]"), "box2", name)
	list := regexp.MustCompile(`(?m)^servers = .*$`)
	if !list.MatchString(text) {
		n.t.Fatalf("the manual's configuration has no servers: %s", text)
	}
	n.credentials(name)
	return n.placed(list.ReplaceAllString(text, fmt.Sprintf("servers = [%q]", n.url(i))))
}

func (n *natsCluster) url(i int) string { return "tls://" + n.ips[i] + ":4222" }

// certify makes an authority and, signed by that, what each server needs.
func (n *natsCluster) certify() {
	n.t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	hosttest.Check(n.t, err)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	hosttest.Check(n.t, err)
	ca, err := x509.ParseCertificate(der)
	hosttest.Check(n.t, err)
	n.write("ca.pem", "CERTIFICATE", der)
	for i, ip := range n.ips {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		hosttest.Check(n.t, err)
		secret, err := x509.MarshalPKCS8PrivateKey(own)
		hosttest.Check(n.t, err)
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
			SerialNumber: big.NewInt(int64(i + 2)), NotAfter: ca.NotAfter,
			IPAddresses: []net.IP{net.ParseIP(ip)},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}, ca, own.Public(), key)
		hosttest.Check(n.t, err)
		n.write(fmt.Sprintf("n%d.pem", i+1), "CERTIFICATE", der)
		n.write(fmt.Sprintf("n%d.key", i+1), "PRIVATE KEY", secret)
	}
}

// write writes a file in PEM.
func (n *natsCluster) write(name, kind string, der []byte) {
	n.t.Helper()
	writeFile(n.t, filepath.Join(n.dir, name),
		string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

// authorise makes an operator and an account, and resolver.conf, as `nsc` does.
func (n *natsCluster) authorise() {
	n.t.Helper()
	operator, err := nkeys.CreateOperator()
	hosttest.Check(n.t, err)
	n.account, err = nkeys.CreateAccount()
	hosttest.Check(n.t, err)
	claims := jwt.NewOperatorClaims(public(n.t, operator))
	claims.Name = "example"
	root, err := claims.Encode(operator)
	hosttest.Check(n.t, err)
	owner := jwt.NewAccountClaims(public(n.t, n.account))
	owner.Name = "termhost"
	account, err := owner.Encode(operator)
	hosttest.Check(n.t, err)
	writeFile(n.t, filepath.Join(n.dir, "resolver.conf"), fmt.Sprintf(
		"operator: %s\nresolver: MEMORY\nresolver_preload: {\n  %s: %s\n}\n",
		root, public(n.t, n.account), account))
}

// credentials makes those of a host, which may do what the manual's `nsc add user` says.
func (n *natsCluster) credentials(name string) {
	n.t.Helper()
	line := strings.ReplaceAll(n.block("nsc add operator"), "box2", name)
	flags := regexp.MustCompile(`nsc add user .* --allow-pub '(\S+)' --allow-sub '(\S+)'\n`).
		FindStringSubmatch(line)
	if flags == nil {
		n.t.Fatalf("the manual's commands are %s", line)
	}
	user, err := nkeys.CreateUser()
	hosttest.Check(n.t, err)
	claims := jwt.NewUserClaims(public(n.t, user))
	claims.Name = name
	claims.Permissions.Pub.Allow.Add(strings.Split(flags[1], ",")...)
	claims.Permissions.Sub.Allow.Add(strings.Split(flags[2], ",")...)
	token, err := claims.Encode(n.account)
	hosttest.Check(n.t, err)
	seed, err := user.Seed()
	hosttest.Check(n.t, err)
	text, err := jwt.FormatUserConfig(token, seed)
	hosttest.Check(n.t, err)
	writeFile(n.t, filepath.Join(n.dir, name+".creds"), string(text))
}

func public(t testing.TB, key nkeys.KeyPair) string {
	t.Helper()
	text, err := key.PublicKey()
	hosttest.Check(t, err)
	return text
}

// start starts a server, and waits until it listens.
func (n *natsCluster) start(i int) {
	n.t.Helper()
	cmd := exec.Command("natsnode", filepath.Join(n.dir, fmt.Sprintf("n%d.conf", i+1)))
	cmd.Stderr = hosttest.LogFile(n.t)
	out, err := cmd.StdoutPipe()
	hosttest.Check(n.t, err)
	hosttest.Check(n.t, cmd.Start())
	n.nodes[i] = cmd
	n.t.Cleanup(func() { n.kill(i) })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		n.t.Fatalf("n%d does not start: %v", i+1, err)
	}
}

// kill kills a server, if it runs.
func (n *natsCluster) kill(i int) {
	if cmd := n.nodes[i]; cmd != nil {
		n.nodes[i] = nil
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
	}
}

// natsNodeMain is a program that runs a NATS server with a configuration file, and prints a line
// when it listens.
func natsNodeMain() {
	options, err := natsserver.ProcessConfigFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s, err := natsserver.NewServer(options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.ConfigureLogger()
	s.Start()
	if s.ReadyForConnections(patience) {
		fmt.Println("ready")
	}
	s.WaitForShutdown()
}
