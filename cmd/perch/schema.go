package main

import (
	"github.com/spf13/cobra"

	"perch.example/config"
)

func newSchema(sys system) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the config, for editors", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b, err := config.Schema()
			if err != nil {
				return own(err)
			}
			if _, err = sys.stdout.Write(b); err != nil {
				return own(err)
			}
			return nil
		},
	}
}
