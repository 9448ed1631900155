import "./theme/fonts.css";
import "./theme/mantine.css";
import "./theme/tokens.css";
import "./theme/base.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { nonce } from "./api/base";
import { createQueryClient } from "./api/queryClient";
import { startLive } from "./live/start";
import { createAppRouter } from "./routes";
import { Notices } from "./shell/Notices";
import { cssVariables, theme } from "./theme/theme";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root");
// The style elements of libraries that Mantine uses have the nonce too.
Object.assign(globalThis, { __webpack_nonce__: nonce });
const client = createQueryClient();
startLive(client);

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={client}>
        <Notices />
        <RouterProvider router={createAppRouter()} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
