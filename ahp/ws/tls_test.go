package ws

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/host"
	"termhost/authz"
)

// selfSigned returns a certificate for 127.0.0.1, and a pool that trusts it.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	check(t, err)
	parsed, err := x509.ParseCertificate(der)
	check(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, pool
}

func TestTheDoorSpeaksTLS(t *testing.T) {
	cert, pool := selfSigned(t)
	w := newWorld(t, func(c *Config) { c.TLS = &tls.Config{Certificates: []tls.Certificate{cert}} })
	d := websocket.Dialer{
		TLSClientConfig: &tls.Config{RootCAs: pool, NextProtos: []string{"h2", "http/1.1"}}}
	c, resp, err := d.Dial("wss://"+w.addr+"/ahp", bearer(w.token(authz.Operator, "agent")))
	if err != nil {
		t.Fatalf("%v %v", err, resp)
	}
	defer c.Close()
	s := &socket{c, t}
	s.initialize("agent")
	s.create("agent", "t", "read x; head -c 300000 /dev/zero | tr '\\0' x; echo the end")
	s.subscribe("t")
	s.types("t", "")
	s.until("the end")
	if n := w.host.Stats().Connections[host.DoorWebSocket]; n != 1 {
		t.Errorf("%d connections", n)
	}
}
