// Viaproxy is the client under test where the proxy is it: it starts the proxy
// before the URL that the suite appends, has a real client talk to the proxy,
// and stops the proxy.
//
//	viaproxy -proxy PROGRAM -config FILE -client PROGRAM URL
//
// Its exit status is the client's, or 1 when there was none or the proxy did
// not end well. It is over before the suite gives up on it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// limit is shorter than the 30 s after which the suite kills the shell around us, and only that.
const limit = 20 * time.Second

func main() {
	proxy := flag.String("proxy", "", "the `PROGRAM` of the proxy")
	config := flag.String("config", "", "the proxy's configuration `FILE`")
	client := flag.String("client", "", "the `PROGRAM` of the client, which takes a URL")
	flag.Parse()
	if err := run(*proxy, *config, *client, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "viaproxy:", err)
		os.Exit(1)
	}
}

func run(proxy, config, client, url string) error {
	state, err := os.MkdirTemp("", "viaproxy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ended, stop, err := start(ctx, proxy, "--config", config, "--state-dir", state, "--log-level", "warn", "--listen", addr, "--url", url)
	if err != nil {
		return err
	}
	err = converse(ctx, ended, addr, client)
	stop()
	return errors.Join(err, <-ended)
}

// start runs the proxy; stop asks it to end, and ended tells how it did.
func start(ctx context.Context, argv ...string) (ended chan error, stop func(), err error) {
	ctx, stop = context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr, cmd.WaitDelay = os.Stderr, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err = cmd.Start(); err != nil {
		return nil, stop, err
	}
	ended = make(chan error, 1)
	go func() {
		_ = cmd.Wait()
		ended <- verdict(cmd.ProcessState)
	}()
	return ended, stop, nil
}

// verdict does not mind that the proxy was asked to end, if it then did so well.
func verdict(state *os.ProcessState) error {
	if state.Success() {
		return nil
	}
	return fmt.Errorf("the proxy: %v", state)
}

// converse runs the client when the proxy accepts connections.
func converse(ctx context.Context, ended chan error, addr, client string) error {
	if err := awaitPort(ctx, ended, addr); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, client, "http://"+addr+"/mcp")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = os.Stdout, os.Stderr, time.Second
	return cmd.Run()
}

func awaitPort(ctx context.Context, ended chan error, addr string) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if conn, err := net.Dial("tcp", addr); err == nil {
			return conn.Close()
		}
		select {
		case <-again.C:
		case err := <-ended:
			ended <- err
			return errors.New("the proxy ended before it served")
		case <-ctx.Done():
			return fmt.Errorf("the proxy did not serve on %s in time", addr)
		}
	}
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
