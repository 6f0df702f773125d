package main

import (
	"slices"

	"github.com/spf13/cobra"

	"perch.example/config"
)

func newSchema(sys system) *cobra.Command {
	return &cobra.Command{
		Use: "schema [config|policy]", Short: "Print the JSON Schema of the config, or of a policy, for editors",
		Args: cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"config", "policy"},
		RunE: func(_ *cobra.Command, args []string) error {
			of := config.Schema
			if slices.Contains(args, "policy") {
				of = config.PolicySchema
			}
			b, err := of()
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
