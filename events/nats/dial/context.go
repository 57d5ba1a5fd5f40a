package dial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// natsContext holds the connection settings of a context file of the tool nats (JSON;
// ~/.config/nats/context/NAME.json).
type natsContext struct {
	URL         string `json:"url"`
	User        string `json:"user"`
	Password    string `json:"password"`
	Token       string `json:"token"`
	Creds       string `json:"creds"`
	NKey        string `json:"nkey"`
	Cert        string `json:"cert"`
	Key         string `json:"key"`
	CA          string `json:"ca"`
	UserJWT     string `json:"user_jwt"`
	UserSeed    string `json:"user_seed"`
	Domain      string `json:"jetstream_domain"`
	APIPrefix   string `json:"jetstream_api_prefix"`
	InboxPrefix string `json:"inbox_prefix"`
	TLSFirst    bool   `json:"tls_first"`

	// Settings that are not supported here; to ignore them would connect wrongly.
	NSC          string `json:"nsc"`
	SocksProxy   string `json:"socks_proxy"`
	WindowsStore string `json:"windows_cert_store"`
}

// withContext fills the empty fields of c from the context that c.Context names.
func (c Config) withContext() (Config, error) {
	file, err := contextFile(c.Context)
	if err != nil {
		return Config{}, fmt.Errorf("NATS context %q: %w", c.Context, err)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("there is no NATS context %q: %w", c.Context, err)
	} else if err != nil {
		return Config{}, fmt.Errorf("NATS context %q: %w", c.Context, err)
	}
	var n natsContext
	if err := json.Unmarshal(text, &n); err != nil {
		return Config{}, fmt.Errorf("NATS context %s: %w", file, err)
	}
	for field, value := range map[string]string{"nsc": n.NSC, "socks_proxy": n.SocksProxy, "windows_cert_store": n.WindowsStore} {
		if value != "" {
			return Config{}, fmt.Errorf("NATS context %s: its field %s is not supported here; say the same with a URL and a credentials file", file, field)
		}
	}
	if c.Creds == "" && c.NKey == "" { // credentials outside the context replace all credentials of the context
		c.Creds, c.NKey = expand(n.Creds), expand(n.NKey)
		c.user, c.password, c.token, c.jwt, c.seed = n.User, n.Password, n.Token, n.UserJWT, n.UserSeed
		if c.user != "" { // the tool nats does the same: a user name takes precedence over the other kinds
			c.Creds, c.NKey, c.jwt = "", "", ""
		} else if c.Creds != "" {
			c.NKey, c.jwt = "", ""
		} else if c.NKey != "" {
			c.jwt = ""
		}
	}
	if c.Cert == "" && c.Key == "" {
		c.Cert, c.Key = expand(n.Cert), expand(n.Key)
	}
	for to, value := range map[*string]string{
		&c.URL: n.URL, &c.CA: expand(n.CA), &c.InboxPrefix: n.InboxPrefix,
	} {
		if *to == "" {
			*to = value
		}
	}
	if c.Domain == "" && c.APIPrefix == "" {
		c.Domain, c.APIPrefix = n.Domain, n.APIPrefix
	}
	c.TLSFirst = c.TLSFirst || n.TLSFirst
	return c, nil
}

// contextFile returns the path of a context file, as the tool nats finds it. A name with a path separator or the suffix
// .json is a path.
func contextFile(name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) || filepath.Ext(name) == ".json" {
		return name, nil
	}
	parent := os.Getenv("XDG_CONFIG_HOME")
	if parent == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		parent = filepath.Join(home, ".config")
	}
	return filepath.Join(parent, "nats", "context", name+".json"), nil
}

// expand resolves a home directory and environment variables in a path, as the tool nats does.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	return os.ExpandEnv(path)
}
