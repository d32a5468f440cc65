package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/faces/shell"
)

// skillCommand prints what an agent should know, and puts it where agents look.
func (a *app) skillCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "skill", Short: "Print what an agent should know about the live session", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				a.printJSON(map[string]any{"ok": true, "skill": shell.Skill, "version": version})
				return nil
			}
			_, err := io.WriteString(a.stdout, shell.Skill)
			return err
		},
	}
	cmd.AddCommand(
		a.skillFilesCommand("install", "Write the skill for the agents of this user", "wrote", shell.InstallSkill),
		a.skillFilesCommand("uninstall", "Take the skill away again", "removed", shell.UninstallSkill),
	)
	return cmd
}

func (a *app) skillFilesCommand(name, short, did string, do func(root string) ([]string, error)) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			root, err := os.UserHomeDir()
			if project {
				root, err = os.Getwd()
			}
			if err != nil {
				return &exit{exitEnvironment, err}
			}
			files, err := do(root)
			if a.json {
				a.printJSON(map[string]any{"ok": err == nil, "files": append([]string{}, files...)})
			} else {
				for _, file := range files {
					fmt.Fprintf(a.stdout, "%s %s\n", did, file)
				}
			}
			if err != nil {
				return &exit{exitEnvironment, err}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "of the working folder, not of the user")
	return cmd
}
