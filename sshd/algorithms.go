package sshd

import (
	"errors"

	gossh "golang.org/x/crypto/ssh"
)

// algorithms returns what the connection is offered: everything modern that x/crypto has, and
// nothing that rests on SHA-1, on CBC or on finite-field groups (which cost much before anybody has
// authenticated). x/crypto adds strict key exchange by itself.
func (c *conn) algorithms() gossh.Config {
	return gossh.Config{
		KeyExchanges: []string{
			gossh.KeyExchangeMLKEM768X25519, gossh.KeyExchangeCurve25519,
			gossh.KeyExchangeECDHP256, gossh.KeyExchangeECDHP384, gossh.KeyExchangeECDHP521,
		},
		Ciphers: c.ciphers,
		MACs: []string{
			gossh.HMACSHA256ETM, gossh.HMACSHA512ETM, gossh.HMACSHA256, gossh.HMACSHA512,
		},
	}
}

// ciphers are those that a connection is offered unless its preview says otherwise.
func ciphers() []string {
	return []string{
		gossh.CipherAES128GCM, gossh.CipherAES256GCM, gossh.CipherChaCha20Poly1305,
		gossh.CipherAES128CTR, gossh.CipherAES192CTR, gossh.CipherAES256CTR,
	}
}

// strongSigner returns k without the signature algorithm that rests on SHA-1, which an RSA key
// offers by itself.
func strongSigner(k gossh.Signer) (gossh.Signer, error) {
	switch k.PublicKey().Type() {
	case gossh.KeyAlgoRSA, gossh.CertAlgoRSAv01:
	default:
		return k, nil
	}
	signer, ok := k.(gossh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("an RSA key that signs with SHA-1 only cannot be used")
	}
	strong := []string{gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256}
	return gossh.NewSignerWithAlgorithms(signer, strong)
}
