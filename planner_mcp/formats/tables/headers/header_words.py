"""The words of headers in the languages that docs/how-to/import.md lists (SPEC T5).

Owns the words: whole headers by the field that they name, and parts of headers by what they say. How a header is looked
up among them is `header_meanings.py`'s.
"""

from collections.abc import Mapping
from typing import Final

from planner_mcp.formats.tables.cells.unit_words import words_of

_PLACE: Final = {
    "location": "location place site stop stop_name store shop 地点 网点 门店 站点 门店名称 网点名 网点名称 standort "
    "filiale lieu magasin point_de_vente point_de_livraison lugar tienda sede locatie filiaal negozio punto_vendita "
    "sklep lokalizacja prodejna obchod mağaza şube butik loja filial 店舗 店舗名",
    "lat": "lat latitude y_wgs 纬度 breitengrad geo_breite latitud breedtegraad latitudine szerokość_geograficzna 緯度",
    "lon": "lon lng long longitude x_wgs 经度 langengrad geo_lange longitud lengtegraad longitudine "
    "długość_geograficzna 経度",
    "x": "x xcoord",
    "y": "y ycoord",
    "position": "position coordinates coords latlng latlon gps geo 坐标 经纬度 经纬度坐标 定位 koordinaten "
    "gps_koordinaten coordonnees coordonnees_gps coordenadas ubicacion_gps coordinaten coordinate współrzędne",
}
TICKETS: Final[Mapping[str, str]] = {
    **_PLACE,
    "id": "id vbeln ticket ticket_id ticket_no order order_id order_no order_number order_nr customer_no consignment "
    "shipment shipment_id delivery_no reference ref job job_id 编号 订单 订单号 订单编号 单号 运单 运单号 运单编号 "
    "送货单号 配送单号 客户编号 流水号 auftrag auftragsnr auftragsnummer bestellnummer bestellung bestellnr "
    "lieferschein lieferscheinnr kundennr kundennummer sendung sendungsnr belegnr commande n_commande no_commande "
    "bl n_bl "
    "numero_commande numero_de_commande bon_de_livraison pedido numero_pedido n_pedido numero_de_pedido albaran "
    "ordernummer bestelnummer zendingnummer opdrachtnummer pakbonnummer ordine n_ordine numero_ordine ddt n_ddt "
    "zamówienie nr_zamówienia numer_zamówienia zlecenie nr_zlecenia numer_zlecenia objednávka číslo_objednávky "
    "č_objednávky zakázka číslo_zakázky sipariş sipariş_no sipariş_numarası irsaliye_no ordernr beställning "
    "beställningsnummer följesedel número_do_pedido nº_do_pedido nº_pedido nota_fiscal 注文番号 受注番号 伝票番号 "
    "配送番号",
    "demand": "件 箱 托 demand quantity qty amount load weight kg units 需求 需求量 数量 重量 货量 件数 menge anzahl "
    "liefermenge brgew quantite qte cantidad cant aantal hoeveelheid quantità qtà ilość liczba množství počet miktar "
    "adet antal mängd quantidade qtd qtde 個数 注文数",
    "kind": "kind type order_type task_type 类型 业务类型 任务类型 art auftragsart type_de_mission tipo "
    "tipo_de_servicio soort rodzaj",
    "window": "window time_window time_windows tw delivery_window time_slot slot opening_hours 时间窗 时间窗口 时间段 "
    "时段 送货时间段 zeitfenster lieferfenster lieferzeitfenster offnungszeiten creneau creneau_horaire horaires "
    "plage_horaire franja_horaria ventana_horaria horario horario_de_entrega tijdvenster tijdvak openingstijden "
    "fascia_oraria orario orari orario_di_consegna orari_di_apertura finestra_oraria okno_czasowe godziny_dostawy "
    "godziny_otwarcia časové_okno okno_doručení zaman_aralığı teslim_aralığı tidsfönster leveransfönster öppettider "
    "janela janela_de_entrega janela_horária horário horário_de_entrega 時間帯 指定時間 時間指定 希望時間 配達時間帯 "
    "納品時間帯 営業時間",
    "opens": "open opens ready ready_time window_start time_window_start tw_start earliest from not_before de ab von "
    "开始时间 最早时间 最早到达 时间窗开始 最早送达 debut desde apertura uhrvon vanaf dalle da dalle_ore od dostawa_od "
    "godzina_od od_godziny nejdříve en_erken tidigast från mais_cedo 開始 開始時間 開始時刻 最早時刻",
    "closes": "close closes due due_date due_time window_end time_window_end tw_end latest to until till deadline "
    "deliver_by not_after 结束时间 最晚时间 最晚到达 时间窗结束 最晚送达 最晚到店时间 bis fin a hasta cierre uhrbis "
    "tot uiterlijk entro entro_le alle alle_ore dostawa_do godzina_do do_godziny nejpozději en_geç senast até "
    "mais_tarde 終了 終了時間 終了時刻 最遅時刻 締切時間",
    "service_s": "service_s service_time_s service_seconds 服务秒数",
    "service_min": "service_min service_minutes service_time_min 服务分钟 服务时间分钟 装卸分钟",
    "service_h": "service_h service_hours service_hr service_time_hours",
    "service_d": "service_d",
    "service": "service service_time service_duration stop_time stop_duration dwell_time time_on_site 服务时间 "
    "服务时长 停留时间 卸货时长 装卸时间 standzeit servicezeit entladezeit aufenthaltsdauer duree temps_de_service "
    "duree_d_arret tiempo_de_servicio duracion tiempo_de_parada lostijd stoptijd tempo_di_scarico tempo_di_servizio "
    "durata czas_rozładunku czas_obsługi czas_postoju doba_obsluhy doba_vykládky servis_süresi boşaltma_süresi "
    "teslimat_süresi servicetid lossningstid stopptid tempo_de_serviço tempo_de_atendimento tempo_de_descarga duração "
    "作業時間 所要時間 滞在時間 荷下ろし時間 荷降ろし時間",
    "priority": "priority prio 优先级 prioritat priorite prioridad prioriteit priorità priorytet priorita öncelik "
    "prioritet prioridade 優先度 優先順位",
    "penalty": "penalty prize 罚金",
    "skills": "skill skills requirements vehicle_type required_skill trade trades 技能 车型要求 要求车型 工种 专长 "
    "anforderung anforderungen qualifikation qualifikationen gewerk gewerke fachrichtung competences competencias "
    "metier corps_de_metier oficio oficios vereisten requisiti wymagania",
    "name": "account alias praxis raison_sociale enseigne razon_social name customer customer_name contact "
    "contact_name client recipient consignee company name1 姓名 客户 客户名称 收货人 联系人 公司 kunde kundenname "
    "empfanger firma ansprechpartner client_nom nom destinataire cliente nombre_cliente nombre destinatario empresa "
    "klant klantnaam naam ontvanger bedrijf ragione_sociale nome nome_cliente azienda klient nazwa_klienta odbiorca "
    "nazwa zákazník jméno_zákazníka odběratel příjemce jméno müşteri müşteri_adı alıcı firma_adı kund kundnamn "
    "mottagare företag namn destinatário nome_do_cliente 顧客 顧客名 お客様 お客様名 得意先 得意先名 届け先 届け先名 "
    "お届け先 納品先 納品先名 配送先 配送先名 会社名 氏名 收件人",
    "address": "house_no house_number street_no street_number haus_nr hs_nr hnr huis_nr toev toevoeging n_de_voie "
    "n_civico numero_civico nr_lokalu località "
    "address addr street stras delivery_address 地址 详细地址 收货地址 送货地址 城市 所在城市 收货城市 省份 "
    "收货省份 省 市 区县 adresse anschrift "
    "lieferadresse strasse direccion domicilio calle rue cp adres afleveradres straat huisnummer postcode plaats "
    "woonplaats indirizzo via cap città comune ulica nr_domu kod_pocztowy miasto miejscowość adres_dostawy adresa "
    "ulice město obec psč sokak cadde mahalle ilçe şehir posta_kodu teslimat_adresi adress leveransadress gata "
    "gatuadress ort postort stad postnr endereço endereço_de_entrega rua logradouro bairro cidade cep 住所 届け先住所 "
    "お届け先住所 納品先住所 配送先住所 都道府県 市区町村 番地 郵便番号",
    "phone": "phone telf1 tel telephone mobile phone_number contact_phone 电话 手机 联系电话 手机号 手机号码 telefon "
    "telefonnummer handy portable telefono movil telefoon telefoonnummer mobiel cellulare nr_telefonu numer_telefonu "
    "telefonní_číslo telefon_no cep_telefonu mobilnummer telefone celular 電話番号 携帯 携帯番号",
    "notes": "note notes comment comments remark remarks instructions 备注 说明 送货备注 bemerkung bemerkungen hinweis "
    "hinweise notiz remarque remarques commentaire consignes nota notas observaciones comentario comentarios opmerking "
    "opmerkingen osservazioni uwagi komentarz poznámka poznámky notlar açıklama anteckning anteckningar kommentar "
    "anmärkning observação observações 備考 注意事項 特記事項 メモ",
    "setup_time_s": "setup_time_s",
    "release_time": "release_time",
    "soft_close": "soft_close",
    "lateness_cost_per_hour": "lateness_cost_per_hour",
    "pickup_ticket": "pickup_ticket",
    "shipment_half": "shipment_half",
    "only_agents": "only_agents",
    "not_agents": "not_agents",
    "preferred_agent": "preferred_agent preferred_driver preferred_technician preferred_engineer preferred_carer "
    "preferred_vehicle 首选司机 首选车辆 wunschfahrer wunschmonteur wunschtechniker stammfahrer stammtechniker",
    "switch_cost": "switch_cost",
    "date": "date delivery_date order_date planning_date 日期 送货日期 配送日期 订单日期 下单日期 datum lieferdatum "
    "liefertag date_de_livraison jour fecha fecha_de_entrega dia leverdatum bezorgdatum data data_consegna "
    "data_di_consegna data_dostawy datum_doručení tarih teslim_tarihi teslimat_tarihi leveransdatum data_de_entrega "
    "data_da_entrega 日付 配達日 納品日 配送日 お届け日",
}
AGENTS: Final[Mapping[str, str]] = {
    **_PLACE,
    "location": f"{_PLACE['location']} depot start_location start_depot base home 起点 出发地 出发点 始发地 仓库 车场 "
    "startort startadresse depart base_depart punto_de_partida salida origen standplaats startadres deposito "
    "partenza baza magazyn bases cochera cocheras home_address start_address wohnort wohnadresse abfahrtsort "
    "adresse_de_depart adresse_depart lieu_de_depart domicile domicilio direccion_de_salida lugar_de_salida "
    "vertrekadres vertrekpunt thuisadres woonplaats 出车地点 出发地址 起始地址 家庭住址",
    "end_location": "end_location end_depot return_to 终点 返回地 zielort arrivee llegada destino",
    "id": "id agent agent_id employee_id employee_no staff_id staff_no personnel_no 工号 员工编号 kurzel personalnr "
    "personalnummer mitarbeiternr mitarbeiternummer matricule vehicle vehicle_id truck van plate registration "
    "license_plate reg_no 车辆 车辆编号 车牌 车牌号 车号 编号 fahrzeug kennzeichen kennz fahrzeugnr lkw vehicule "
    "immatriculation camion vehiculo matricula furgoneta kenteken voertuig targa veicolo mezzo furgone pojazd "
    "rejestracja nr_rejestracyjny numer_rejestracyjny vozidlo auto spz araç plaka araç_plakası fordon bil regnr "
    "registreringsnummer veículo placa caminhão 車両 車両番号 車番 号車",
    "capacity": "capacity load max_load payload kg 容量 载重 载重量 最大载重 核载 核定载重 额定载重 kapazitat nutzlast "
    "zuladung capacite charge charge_utile capacidad carga carga_util laadvermogen capaciteit portata capacità "
    "ładowność pojemność kapacita nosnost kapasite yük_kapasitesi kapacitet lastkapacitet maxlast capacidade "
    "capacidade_de_carga 積載量 最大積載量 積載重量",
    "shift_start": "shift_start start_time begins start from on_duty 上班 上班时间 开始时间 出车时间 班次开始 "
    "schichtbeginn dienstbeginn arbeitsbeginn beginn von ab debut heure_debut hora_inicio inicio desde de begintijd "
    "starttijd inizio_turno ora_inizio początek_zmiany začátek_směny vardiya_başlangıcı başlangıç skiftstart starttid "
    "início_do_turno início_da_jornada 勤務開始 勤務開始時間 出勤 出勤時間 始業 始業時間 開始 開始時刻",
    "shift_end": "shift_end end_time ends end to until off_duty 下班 下班时间 结束时间 收车时间 班次结束 schichtende "
    "dienstende arbeitsende ende bis finish finish_time fin heure_fin hora_fin hasta a eindtijd fine_turno ora_fine "
    "koniec_zmiany konec_směny vardiya_bitişi bitiş skiftslut sluttid fim fim_do_turno fim_da_jornada 勤務終了 "
    "勤務終了時間 退勤 退勤時間 終業 終業時間 終了 終了時間 終了時刻",
    "shift": "shift working_hours hours 班次 工作时间 上班时段 schicht arbeitszeit dienstzeit horaires poste turno "
    "horario jornada werktijd orario_di_lavoro zmiana godziny_pracy směna pracovní_doba vardiya çalışma_saatleri mesai "
    "skift arbetspass arbetstid 勤務時間 勤務",
    "break": "break breaks break_time lunch lunch_break rest 午休 午休时间 休息 休息时间 pause pausen pausenzeit "
    "mittagspause pauses pause_dejeuner pausa descanso almuerzo pauze pausa_pranzo przerwa přestávka mola rast "
    "lunchrast almoço 休憩 休憩時間",
    "break_start": "break_start pausa_inizio inizio_pausa",
    "break_end": "break_end pausa_fine fine_pausa",
    "break_min": "break_min break_duration",
    "skills": "skill skills equipment trade trades certifications 技能 车型 工种 专长 资质 ausstattung qualifikation "
    "qualifikationen gewerk gewerke fahigkeiten kenntnisse fachrichtung equipement competences metier habilitations "
    "equipamiento competencias oficio oficios",
    "fixed_cost": "fixed_cost fixed 固定成本 出车费 fixkosten cout_fixe coste_fijo",
    "cost_per_km": "cost_per_km per_km 每公里 每公里成本 公里成本 kosten_pro_km km_kosten kilometerkosten cout_par_km "
    "coste_por_km",
    "cost_per_hour": "cost_per_hour per_hour 每小时 hourly_rate hourly_wage hourly_cost 每小时成本 每小时工资 时薪 "
    "kosten_pro_stunde stundenlohn stundensatz cout_par_heure taux_horaire coste_por_hora",
    "max_distance_km": "max_distance_km max_km km_max max_kilometer 最大里程km 最大里程公里 最大公里数",
    "max_duration_h": "max_duration_h max_hours max_working_hours max_stunden 最大工时小时 最长工时小时",
    "max_tickets": "max_tickets max_stops 最多单数 最大单数 max_stopps nb_max_arrets max_paradas",
    "name": "name tech driver driver_name engineer employee staff worker 司机 姓名 驾驶员 司机姓名 师傅 员工 技师 "
    "工程师 fahrer fahrername mitarbeiter mitarbeiterin monteur courier kurier coursier livreur koerier mensajero "
    "repartidor corriere 骑手 配送员 nurse carer caregiver infirmier infirmiere soignant aide_soignant pflegekraft "
    "pflegerin enfermero enfermera cuidador cuidadora verpleegkundige zorgverlener infermiere infermiera 护士 护理员 "
    "护工 chauffeur conducteur employe salarie intervenant conductor chofer empleado operario bestuurder autista "
    "conducente kierowca řidič jméno_řidiče sürücü sürücü_adı şoför förare chaufför motorista condutor entregador "
    "ドライバー ドライバー名 運転手 乗務員",
    "phone": "phone tel mobile driver_phone 电话 手机 司机电话 telefon handy telephone telefono movil telefoon "
    "cellulare telefone celular 電話番号 携帯番号",
}
PLACE_SHEETS: Final = words_of(
    "depots depot warehouses warehouse hubs hub places locations sites branches lager standorte niederlassungen "
    "niederlassung filialen entrepots entrepot agences sites almacenes almacen sedes magazijnen magazijn vestigingen "
    "bases cocheras cochera depositos deposito delegaciones betriebshofe betriebshof standplaatsen "
    "magazzini magazzino sedi magazyny 仓库 仓库信息 车场 地点"
)
"""Names of a sheet of places that tickets and agents name; such a sheet is the tickets' where no other is."""
FIELDS: Final = {"tickets": TICKETS, "agents": AGENTS}
PICKUP_FIELDS: Final[Mapping[str, str]] = {
    f"pickup_{name}": name
    for name in (
        *("address", *_PLACE, "window", "opens", "closes", "service_s", "service_min", "service_h", "service_d"),
        *("name", "phone", "notes", "id"),
    )
}
"""Fields of the place where the goods of a row are fetched, by what each of them is there."""
CHOICES: Final[Mapping[str, Mapping[str, str]]] = {"tickets": {**TICKETS, **PICKUP_FIELDS}, "agents": AGENTS}
"""Fields that a caller may name a column as, by table."""
OFFERED: Final = {table: [name for name in words if name != "service"] for table, words in CHOICES.items()}
"""The same as they are offered: of a service time with its unit."""
COMPOSED: Final = frozenset({"address", "phone", "notes", "name", "skills", "demand", "capacity", "break"})
"""Fields that several columns may make up together."""
PAIRED: Final = frozenset({"opens", "closes"})
"""Fields of tickets that several columns may be each, as many of the one as of the other: two windows a day."""
_SEVERAL: Final = COMPOSED | PAIRED | {"window"}
SEVERAL: Final = _SEVERAL | {name for name, at in PICKUP_FIELDS.items() if at in _SEVERAL}
"""Fields that a caller may name several columns as."""
PLACING: Final = frozenset({"lat", "lon", "x", "y", "position", "address"})
"""Fields that say where something is."""
UNUSED: Final = frozenset({"date"})
"""Fields that are known and nothing is made of: days are compared with the planning date alone."""
PSEUDO: Final = frozenset({"service", "shift", "time"})
"""Fields whose meaning the cells, or the caller, must settle: a unit, or which end of a window."""

CONCEPTS: Final[Mapping[str, str]] = {
    "start": "early earlier fruher nach despues temprana temprano mini apres open opens opening earliest from start "
    "starts begin begins ready after since von ab anfang offnet debut des ouverture ouvre partir desde inicio apertura "
    "abre comienzo *fruhest *beginn 最早 开始 起始 开门 起送 早于 点后 之后 以后 vroegste vanaf dalle nejdrive zacatek "
    "pocatek erken baslangic baslangici tidigast tidigaste fran cedo 開始 始業 出勤",
    "end": "late later spater vor tardia tardio maxi close closes closing until till to by before due deadline end "
    "ends cutoff bis tot ende einsatzende lieferende annahmeende schliesst schluss frist finish finishes fin jusqua "
    "jusqu fermeture ferme avant tard limite echeance hasta cierre cierra tarde antes *spatest *latest 最晚 最迟 结束 "
    "截止 时限 期限 关门 截至 打烊 晚于 点前 之前 以前 uiterste uiterlijk uiterlijke entro nejpozdeji konec gec bitis "
    "bitisi senast senaste ate fim fechamento chiusura 終了 終業 退勤 最遅 締切",
    "window": "window windows slot slots timeslot timeslots interval hours availability available tw creneau creneaux "
    "plage horaire horaires fenetre franja ventana horario horarios *fenster *zeitraum *offnungszeit *annahmezeit "
    "*geschaftszeit *anlieferzeit *zeitspanne 时间段 时段 时间窗 窗口 营业 收货时间 可送 时间范围 接货时间 okno "
    "araligi tidsfonster janela 時間帯 指定時間 希望時間",
    "travel": "travel driving drive buffer delay fahrt anfahrt fahrzeit anfahrtszeit verspatung trajet marge retard "
    "viaje trayecto retraso margen *puffer *fahrtzeit 车程 行驶 路程 在途 缓冲 延误",
    "duration": "*duur lossen rozładunek załadunek trwania sosta svc effort aufwand 工时 maniobra maniobras "
    "immobilisation handling service duration unload unloading stay dwell onsite duree dechargement arret intervention "
    "duracion descarga estancia parada *dauer *standzeit *aufenthalt *entlade *servicezeit *ladezeit *haltezeit "
    "*betreuungszeit *pflegezeit 服务 时长 停留 卸货 装卸 作业 耗时 用时 obsluhy vykladky vykladka trvani suresi "
    "bosaltma lossning lossningstid duracao atendimento 作業 所要 滞在 荷下ろし 荷降ろし",
    "length": "length",
    "stop": "stop site halt parada arret place",
    "minutes": "mins min minutes minuten minutos mn 分钟",
    "time": "time times hour when eta clock arrival arrive uhr heure heures temps hora horas tiempo *zeit *termin 时间 "
    "时刻 到店 到达 送达 *tijd czas godzina cas saat saati zaman tid tempo 時間 時刻",
    "delivery": "annahme livrer entregar deliver delivery deliveries livraison entrega *liefer 送货 送达 配送 到店 "
    "收货 consegna consegnare levering dostawa doruceni dodani teslim teslimat leverans 配達 納品",
    "lat": "lat latitude breite latitud *breitengrad 纬度",
    "lon": "lon lng longitude lange longitud *langengrad 经度",
    "position": "coordinates coordinate coords coord gps latlng latlon koordinate koordinaten coordonnees coordenadas "
    "坐标 经纬度",
    "billing": "billing billed bill invoice buyer purchaser facturation facturacion facturado acheteur comprador "
    "*rechnungs *kaufer *besteller 发票 账单 开票 买家 下单人 fakturacni fatura fakturerings faturamento 請求",
    "thing": "product products item lineitem article email mail sku produit producto articulo *artikel *produkt 商品 "
    "宝贝 产品 货品 邮箱 品名 品目",
    "address": "localita prov "
    "address address1 address2 addr street road lieferort rechnungsort hausnr hausnummer house rue calle "
    "direccion domicilio city town postcode zip zipcode postal plz pstlz ort ort01 stadt ville cp ciudad poblacion "
    "localidad municipio voie commune gemeinde county state province provincia region country land pays pais *adres "
    "postnr postnummer psc *postleitzahl *strasse *anschrift 地址 街道 乡镇 门牌 小区 straat plaats adres indirizzo "
    "citta ulica miasto ulice mesto adresa obec adresi adress gata gatuadress postort sokak cadde mahalle ilce sehir "
    "endereco rua logradouro bairro cidade cep 住所 市区町村 都道府県 郵便番号",
    "division": "省 市 区 县",
    "phone": "phone telephone tel mobile cell handy mobil portable movil *telefon 电话 手机 联系方式 telefoon "
    "cellulare telefonu telefone celular telefonnummer 電話 携帯",
    "notes": "obs gate safe keysafe schlussel schlusselsafe access acceso acces digicode *info 须知 提示 门禁 note "
    "notes comment comments remark remarks instruction instructions instr observ besonderheit besonderheiten hint "
    "notiz anmerkung anmerkungen remarque remarques commentaire commentaires consigne consignes nota notas observacion "
    "observaciones comentario comentarios instrucciones *bemerkung *hinweis 备注 说明 注意 留言 opmerking opmerkingen "
    "uwagi poznamka poznamky notlar aciklama anteckning anteckningar kommentar anmarkning observacao observacoes 備考 "
    "特記",
    "name": "pupil passenger resident schuler schulerin bewohner bewohnerin fahrgast eleve passager alumno alumna "
    "pasajero leerling bewoner "
    "contact kontakt contacto patient patientin paciente klient klientin teilnehmer teilnehmerin 商户 简称 "
    "店名 customer client recipient consignee company empfanger firma nom destinataire societe raison cliente nombre "
    "destinatario empresa *kunde *name 客户 收货人 姓名 名称 联系人 klant ontvanger odbiorca nome zakaznik zakaznika "
    "odberatel prijemce jmeno musteri alici adi kund kundnamn mottagare namn 顧客 お客様 得意先 届け先 納品先 配送先 "
    "氏名",
    "id": "id n no number numero num code ref reference *nummer *nr 编号 单号 号码 cislo numarasi 番号 コート",
    "order": "drop order orders ticket shipment consignment job delivery commande pedido albaran bon *auftrag *bestell "
    "*sendung *lieferschein 订单 运单 送货单 配送单 objednavka objednavky zakazka zakazky siparis bestallning 注文 "
    "受注 伝票",
    "vehicle": "vehicle van truck car plate lkw vehicule camion vehiculo furgoneta *fahrzeug 车 vozidlo vozidla arac "
    "fordon veiculo 車両",
    "driver": "technician techniker technicien tecnico driver chauffeur conducteur conductor chofer *fahrer 司机 "
    "驾驶员 ridic ridice surucu sofor forare chauffor motorista 運転手 乗務員",
    "shift": "shift duty working work arbeit poste turno jornada *schicht *dienst *arbeits 班 工作 出车 收车 smena "
    "smeny vardiya skift 勤務",
    "date": "date day tag jour fecha dia *datum 日 datum tarih tarihi",
    "priority": "priority prio urgency urgence urgencia dringlichkeit priorite prioridad *prioritat 优先 紧急程度 "
    "priorita oncelik prioritet prioridade 優先",
    "skills": "requires requiere requisitos needs skill skills requirement requirements equipment qualification "
    "qualifikation competence competencia *anforderung 技能 车型 要求资质",
    "required": "required reqd requis requise requerido requerida erforderlich erforderliche benotigt",
    "max": "max maximum most maximal maxi maximo 最大 最多 核载 额定 最大積載",
    "stops": "stops tickets jobs visits stopps auftrage termine arrets visites paradas visitas 单数 站数",
    "cost": "cost costs price fee rate preis cout prix tarif coste precio costo *kosten 成本 费用 价格 运费",
    "total": "total sum summe gesamt somme suma totale totaal razem 合计 总计",
    "money": "discount subtotal tax vat rabatt mwst remise tva descuento iva pobranie zł pln chf czk gbp "
    "price revenue value invoice cod eur usd euro euros dollar betrag umsatz preis wert rechnung montant prix "
    "valeur facture chiffre importe precio valor factura 金额 价格 货款 运费 元 总价 单价 fiyat tutar preco 単価 料金 "
    "代金",
    "ordinal": "index row line pos seq sequence lfd zeile rang orden fila 行号 序",
    "pause": "break lunch closed pausa descanso almuerzo *pause 午休 休息 prestavka mola rast almoco 休憩",
    "code": "postnr postnummer psc plz pstlz postcode zip zipcode postal cp code floor etage stock stockwerk planta "
    "tour route zone area gebiet sector 年龄 楼层 邮编 线路 区域 路线 cep 郵便番号",
}
"""Parts of headers by what they say. One that begins with a star is found within longer words as well, as compounds of
German have it; Chinese parts are always found so."""
OF_ORDERS: Final = (
    *("order", "creat", "invoice", "bestell", "rechnung", "commande", "pedido", "paid"),
    *("timestamp", "zeitstempel", "horodat", "marca temporal", "下单", "订单", "付款", "创建", "时间戳"),
)
"""Parts of headers of days that are past."""
PAST: Final = (
    *(*OF_ORDERS, "last", "letzt", "modif", "dernier", "ultim", "updat", "print", "cread"),
    *("beleg", "erfass", "angelegt", "geandert", "druck", "saisi", "录入", "打印", "更新"),
)
"""The same where the cells have no hours."""
