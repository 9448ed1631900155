"""What is measured: the ceilings, Foliot, and the peers. Each module's operations run as processes of their own."""
