package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/mcp-taskproxy/mcp-taskproxy/config"
)

func configCommand(command []string) *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "work with configuration files", HideHelpCommand: true, OnUsageError: usageError,
		Action: func(*cli.Context) error {
			return wrong("config has one subcommand, check; write mcp-taskproxy config check FILE")
		},
		Subcommands: []*cli.Command{{
			Name: "check", Usage: "say what is wrong with a file", ArgsUsage: "FILE", HideHelpCommand: true, OnUsageError: usageError,
			Action: func(c *cli.Context) error { return check(append(c.Args().Slice(), command...)) },
		}},
	}
}

func check(files []string) error {
	if len(files) != 1 {
		return wrong("config check takes one file; write mcp-taskproxy config check FILE")
	}
	cfg, err := loadFile("config check", files[0], nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: ok: %v\n", files[0], cfg)
	for _, text := range notes(cfg) {
		fmt.Fprintf(os.Stderr, "%s: note: %s\n", files[0], text)
	}
	return nil
}

// notes says what the file leaves to flags and variables before what runs,
// but perhaps not as it was meant.
func notes(cfg config.Config) []string {
	all := cfg.Warnings()
	if err := cfg.Check(); err != nil {
		all = append([]string{"this file alone is refused: " + err.Error()}, all...)
	}
	return all
}
