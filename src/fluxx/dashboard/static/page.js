// What a page does beyond its HTML. Everything here is a comfort: without it pages are read and forms are sent.
import { tickTimes } from "./times.js";
import { followEvents } from "./live.js";
import { selectRows } from "./select.js";
import { copyButtons, confirmForms, goOn } from "./comforts.js";
import { keyboard } from "./keys.js";
import { uploads } from "./upload.js";

tickTimes();
followEvents();
selectRows();
copyButtons();
confirmForms();
goOn();
keyboard();
uploads();
